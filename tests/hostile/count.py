"""Try many hostile tables and say what became of them: python tests/hostile/count.py 20000 [seed]."""

import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from hostile.hostile_law import REFUSED, TRIED, judge
from hostile.hostile_tables import cases
from hypothesis import HealthCheck, Phase, given, seed, settings


def main(n_tables, number):
    @seed(number)
    @settings(
        max_examples=n_tables,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
        phases=[Phase.generate, Phase.shrink],
    )
    @given(cases())
    def every_table_works_or_is_refused_in_words(case):
        judge(case)

    began = time.perf_counter()
    every_table_works_or_is_refused_in_words()
    seconds = time.perf_counter() - began
    lines = [f"{TRIED.total():,} tables in {seconds:.0f} s (seed {number}), and none broke the law:"]
    lines += [f"{count:9,} {outcome}" for outcome, count in sorted(TRIED.items())]
    lines += [f"{len(REFUSED)} kinds of reasons to refuse, the commonest of them:"]
    lines += [f"{count:9,} {reason.splitlines()[0]}" for reason, count in REFUSED.most_common(12)]
    sys.stdout.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 2000, int(sys.argv[2]) if len(sys.argv) > 2 else 0)

"""The command as a user meets it: real processes, killed and stopped; and what it says."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from importlib import resources
from pathlib import Path

import numpy as np
import pytest
from small_study import FEW, FORMATS, all_tables_of, command, fake, options, plan, write_files
from support import thinned

import adacc
from adacc.study.store import Store

SCRIPT = Path(sys.executable).with_name("adacc")
MODULE = [sys.executable, "-m", "adacc"]


def start(*arguments):
    """A process group of its own, to be killed as a whole."""
    return subprocess.Popen(
        [*MODULE, *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        start_new_session=True,
    )  # fmt: skip


def finish(process):
    out, err = process.communicate(timeout=300)
    return process.returncode, out, err


def results(folder):
    return sorted(folder.glob("*/*.npz"))


def wait_for_results(folder, process, n=1):
    while len(results(folder)) < n:
        assert process.poll() is None, process.communicate()
        time.sleep(0.005)


@pytest.fixture(scope="module")
def paths(tmp_path_factory):
    return write_files(tmp_path_factory.mktemp("data"))


@pytest.fixture(scope="module")
def undisturbed(paths, tmp_path_factory):
    """A study that this process computed at one go."""
    folder = tmp_path_factory.mktemp("undisturbed") / "results"
    code, out, err = command(*options(paths, repeats=3), "--out", folder, "--executor", "local")
    assert (code, err) == (0, "")
    assert out == f"12 of 12 folds are done. Next: adacc study tables {folder}\n"
    return folder


def assert_same_study(folder, undisturbed):
    one, other = Store(folder), Store(undisturbed)
    assert one.protocol() == other.protocol()
    for task in other.protocol().tasks():
        assert one.has(task)
        found, due = one.read(task), other.read(task)
        np.testing.assert_array_equal(found.scores, due.scores)
        np.testing.assert_array_equal(found.rows, due.rows)
    assert all_tables_of(folder) == all_tables_of(undisturbed)


@pytest.mark.compiled
@pytest.mark.skipif(not hasattr(os, "killpg"), reason="needs process groups")
def test_killed_in_the_middle_it_goes_on_to_the_same_tables(paths, undisturbed, tmp_path):
    run = [*options(paths, repeats=3), "--out", tmp_path]
    process = start(*run, "--jobs", 2)
    wait_for_results(tmp_path, process, 2)
    os.killpg(process.pid, signal.SIGKILL)
    assert finish(process)[0] == -signal.SIGKILL
    done = {path: (path.stat().st_ino, path.stat().st_mtime_ns) for path in results(tmp_path)}
    assert 2 <= len(done) < 12
    # As a write that was cut short leaves it.
    next(iter(done)).with_name(".repeat03-fold1-x1y2.tmp").write_bytes(b"PK half of a file")

    code, out, err = command("study", "status", tmp_path)
    assert (code, err) == (0, "")
    assert f"{len(done)} of 12 folds are done" in out
    code, out, err = command(*run, "--executor", "local")
    assert (code, err) == (0, "")
    assert out.startswith("12 of 12 folds are done")
    assert all((path.stat().st_ino, path.stat().st_mtime_ns) == stamp for path, stamp in done.items())
    assert_same_study(tmp_path, undisturbed)


@pytest.mark.thorough
@pytest.mark.compiled
def test_two_runs_into_one_folder_do_no_harm(paths, undisturbed, tmp_path):
    run = [*options(paths, repeats=3), "--out", tmp_path, "--executor", "local"]
    both = [start(*run), start(*run)]
    for process in both:
        code, out, err = finish(process)
        assert (code, err) == (0, "")
        assert out.startswith("12 of 12 folds are done")
    assert not list(tmp_path.rglob("*.tmp"))
    assert not list(tmp_path.rglob("*.damaged"))
    assert_same_study(tmp_path, undisturbed)


@pytest.mark.compiled
@pytest.mark.parametrize("executor", thinned(["process", "dask"], ["dask"]))
def test_every_executor_gives_the_same(paths, undisturbed, tmp_path, executor):
    """The first repeat, which is that of the longer study."""
    run = [*options(paths, repeats=1), "--out", tmp_path, "--executor", executor]
    code, _, err = command(*run)
    assert code == 0, err
    store, due = Store(tmp_path), Store(undisturbed)
    tasks = store.protocol().tasks()
    assert len(tasks) == len(results(tmp_path)) == 4
    for task in tasks:
        np.testing.assert_array_equal(store.read(task).scores, due.read(task).scores)
        keys = [(each.method, each.dialect, each.rounds, each.cost, each.measures) for each in store.read(task).series]
        assert keys == [
            (each.method, each.dialect, each.rounds, each.cost, each.measures) for each in due.read(task).series
        ]


@pytest.fixture
def cluster(tmp_path):
    """The address of a scheduler in a process of its own, with two workers."""
    file = tmp_path / "scheduler.json"
    dask = Path(sys.executable).with_name("dask")
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "start_new_session": True}
    begun = [subprocess.Popen([dask, "scheduler", "--port", "0", "--no-dashboard", "--scheduler-file", file], **quiet)]
    worker = [dask, "worker", "--scheduler-file", file, "--nworkers", "2", "--nthreads", "1", "--no-dashboard"]
    begun.append(subprocess.Popen(worker, **quiet))
    while not file.exists():
        assert begun[0].poll() is None
        time.sleep(0.05)
    yield json.loads(file.read_text())["address"]
    for process in begun:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


@pytest.mark.thorough
@pytest.mark.compiled
def test_a_study_on_a_cluster_goes_on_where_it_was_killed(paths, undisturbed, tmp_path, cluster):
    folder = tmp_path / "results"
    run = [*options(paths, repeats=3), "--out", folder, "--executor", "dask", "--scheduler", cluster, "--jobs", 2]
    killed = start(*run)
    wait_for_results(folder, killed, n=2)
    os.killpg(killed.pid, signal.SIGKILL)
    killed.communicate()
    done = {path: path.stat().st_mtime_ns for path in results(folder)}
    code, out, err = finish(start(*run))
    assert code == 0, err
    assert out.startswith("12 of 12 folds are done")
    assert all(path.stat().st_mtime_ns == stamp for path, stamp in done.items())
    assert_same_study(folder, undisturbed)


@pytest.mark.compiled
@pytest.mark.parametrize("executor", thinned(["process", "local"], ["process"]))
def test_ctrl_c_says_how_to_go_on(paths, tmp_path, executor):
    process = start(*options(paths, repeats=10), "--out", tmp_path, "--executor", executor, "--jobs", 2)
    wait_for_results(tmp_path, process)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does
    code, out, err = finish(process)
    assert (code, out) == (130, "")
    assert re.fullmatch(r"\nadacc: interrupted at \d+ of 40 folds; run the same command to continue\n", err)
    assert all(
        Store(tmp_path).has(task) for task in Store(tmp_path).protocol().tasks() if Store(tmp_path).path(task).exists()
    )


def workers_of(process):
    psutil = pytest.importorskip("psutil")
    children = psutil.Process(process.pid).children(recursive=True)
    return [child for child in children if "LokyProcess" in str(child.cmdline())]


@pytest.mark.thorough
@pytest.mark.compiled
def test_ctrl_c_is_not_for_workers(paths, tmp_path):
    """A terminal sends it to them too, at any moment of theirs: they must not have a word of their own."""
    process = start(*options(paths, repeats=4), "--out", tmp_path, "--jobs", 2)
    wait_for_results(tmp_path, process)
    for worker in workers_of(process):
        worker.send_signal(signal.SIGINT)
    code, out, err = finish(process)
    assert (code, err) == (0, "")
    assert out.startswith("16 of 16 folds are done")


@pytest.mark.thorough
@pytest.mark.compiled
def test_a_killed_worker_is_no_riddle(paths, tmp_path):
    process = start(*options(paths, repeats=10), "--out", tmp_path, "--jobs", 2)
    wait_for_results(tmp_path, process)
    workers_of(process)[0].kill()
    code, out, err = finish(process)
    assert (code, out) == (2, "")
    assert err.startswith("adacc: error: a worker process was killed, perhaps because memory ran out; the same command")
    assert "Traceback" not in err


def test_damage_is_told_and_mended(paths, tmp_path):
    run = [*options(paths[:1], ["adaboost", "ros-tree"]), "--out", tmp_path, "--executor", "local"]
    assert command(*run)[0] == 0
    tables = all_tables_of(tmp_path)
    results(tmp_path)[1].write_bytes(b"")
    code, out, err = command("study", "tables", tmp_path)
    assert (code, out) == (2, "")
    assert err.startswith(f"adacc: error: {results(tmp_path)[1]} is damaged (not a ZIP archive): run the study again")
    assert command("study", "status", tmp_path)[0] == 2
    code, out, err = command(*run)
    assert (code, out) == (0, f"2 of 2 folds are done. Next: adacc study tables {tmp_path}\n")
    assert err == (
        "adacc: the result of clinic, repeat 0, fold 1 is damaged; it is kept as repeat00-fold1.damaged and computed "
        "again\n"
    )
    assert all_tables_of(tmp_path) == tables


def test_the_script_is_installed_and_both_names_are_the_same():
    said = [subprocess.run([*name, "--version"], capture_output=True, text=True) for name in ([SCRIPT], MODULE)]
    assert {(each.returncode, each.stdout) for each in said} == {(0, f"adacc {adacc.__version__}\n")}


@pytest.fixture(scope="module")
def faked(tmp_path_factory):
    """The folder of a study whose results no method computed."""
    folder = tmp_path_factory.mktemp("faked")
    fake(plan([folder / "a.csv", folder / "b.csv"], FEW), Store(folder / "results"))
    return folder / "results"


@pytest.mark.thorough
def test_a_pipe_may_be_closed(faked):
    process = start("study", "tables", faked)
    process.stdout.close()
    process.wait(timeout=120)
    assert (process.returncode, process.stderr.read()) == (0, "")
    process.stderr.close()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ("--data nosuch.csv:ill", "nosuch.csv does not exist"),
        ("--data nosuch.csv", "nosuch.csv does not exist"),
        ("--data bad.parquet:ill", "bad.parquet cannot be read as Parquet: "),
        ("--data clinic.txt", "clinic.txt: the file name must end in .csv, .csv.gz, .tsv"),
        ("--data clinic.csv", "clinic.csv has no column 'target' to predict"),
        ("--data clinic.csv:il", "clinic.csv has no column 'il' to predict; did you mean 'ill'?"),
        ("--data clinic.csv:ill --folds 23", "folds must be at most 22, the number of minority rows of clinic"),
        (
            "--data clinic.csv:ill --data deep/clinic.csv:ill",
            "datasets must name each set once, got 'clinic' 2 times; rename a file",
        ),
        ("--data .csv:ill", "datasets must have names without dots and slashes, got ''"),
        ("--datasets wlit", "unknown data set 'wlit'; did you mean 'wilt'?"),
        ("--datasets wilt,wilt", "datasets must name each set once, got 'wilt' 2 times"),
        ("--data clinic.csv:ill --methods adac", "method 'adac' is unknown: did you mean 'adac3' or 'adac2' or"),
        ("--data clinic.csv:ill --methods qqq", "method 'qqq' is unknown; known are adaboost, adaboost-threshold,"),
        ("--data clinic.csv:ill --methods ,", "argument --methods: must be names separated by commas, got ','"),
        ("--data clinic.csv:ill --rounds 0", "rounds must be ascending whole numbers of at least 1, got [0]"),
        ("--data clinic.csv:ill --rounds ten", "argument --rounds: must be integers separated by commas"),
        ("--data clinic.csv:ill --folds 1", "folds must be a whole number of at least 2, got 1"),
        ("--data clinic.csv:ill --jobs 0", "argument --jobs: must be an integer of at least 1, got '0'"),
        ("--data clinic.csv:ill --jobs -1", "argument --jobs: must be an integer of at least 1, got '-1'"),
        ("--data clinic.csv:ill --repeats 1.5", "argument --repeats: must be an integer of at least 1"),
        ("--data clinic.csv:ill --max-bins 1", "max_bins must be a whole number of at least 2, or 'exact', got 1"),
        ("--data clinic.csv:ill --max-bins all", "argument --max-bins: must be an integer of at least 1 or 'exact'"),
        ("--data clinic.csv:ill --executor gpu", "argument --executor: invalid choice: 'gpu'"),
    ],
)
def test_what_cannot_be_done_is_said_in_a_line_or_two(paths, tmp_path, monkeypatch, arguments, said):
    (tmp_path / "deep").mkdir()
    for name in ("clinic.csv", "deep/clinic.csv", ".csv", "bad.parquet", "clinic.txt"):
        (tmp_path / name).write_bytes(paths[0].read_bytes())
    monkeypatch.chdir(tmp_path)
    code, out, err = command("study", "run", "paper", "--quiet", "--out", "results", *arguments.split())
    assert (code, out) == (2, "")
    assert err.startswith("adacc: error: ")
    assert said in err
    assert err.count("\n") <= 2
    assert not (tmp_path / "results").exists()  # nor does a slip leave a plan behind


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (
            "study run nosuch --out x",
            "study must be one of 'classes', 'forest', 'paper' or the path of a TOML file, got 'nosuch'",
        ),
        ("study run paper", "the following arguments are required: --out"),
        ("study tables .", ". holds no study: it has no plan.json"),
        ("study status nosuch", "nosuch holds no study: it has no plan.json"),
        (
            "study tables results --only rank",
            "--only must name tables of this study, got 'rank'; the tables are results-paper, ",
        ),
        ("study tables results --format html", "argument --format: invalid choice: 'html'"),
        ("study", "the following arguments are required: ACTION"),
        ("datasets fetch wlit", "unknown data set 'wlit'; did you mean 'wilt'?"),
        ("nonsense", "argument COMMAND: invalid choice: 'nonsense'"),
    ],
)
def test_other_commands_too(tmp_path, monkeypatch, arguments, said):
    monkeypatch.chdir(tmp_path)
    fake(plan([tmp_path / "a.csv"], ["adacc1", "csb1"]), Store("results"))
    code, out, err = command(*arguments.split())
    assert (code, out) == (2, "")
    assert err.startswith(f"adacc: error: {said}")
    assert err.count("\n") <= 2


def test_a_real_process_fails_without_a_traceback(tmp_path):
    code, out, err = finish(start("study", "run", "paper", "--out", tmp_path / "x", "--data", "nosuch.csv:ill"))
    assert (code, out) == (2, "")
    assert re.fullmatch(r"adacc: error: \S+nosuch\.csv does not exist; check the path\n", err)


def test_a_scheduler_needs_dask(paths, tmp_path):
    code, _, err = command(*options(paths, ["adaboost"]), "--out", tmp_path, "--scheduler", "tcp://host:1")
    assert (code, err) == (2, "adacc: error: executor must be 'dask' if there is a scheduler, got 'process'\n")


def test_changed_options_for_the_same_folder_are_named(paths, tmp_path):
    run = ["--out", tmp_path, "--executor", "local"]
    assert command(*options(paths[:1], ["adaboost"]), *run)[0] == 0
    before = results(tmp_path)
    for changes, said in (
        ({"rounds": "3,7"}, "rounds: 3, 6 there, 3, 7 now"),
        ({"folds": 3}, "folds: 2 there, 3 now"),
        ({"methods": ["adaboost", "csb1"]}, "methods differ in csb1"),
    ):
        code, out, err = command(*options(paths[:1], **{"methods": ["adaboost"], **changes}), *run)
        assert (code, out) == (2, "")
        assert err == (
            f"adacc: error: {tmp_path} holds another study. {said}. Use another folder, or the same study.\n"
        )
    assert results(tmp_path) == before
    assert command(*options(paths, ["adaboost"], repeats=2), *run)[0] == 0
    assert len(results(tmp_path)) == 8


def test_own_file_names_with_colons_and_targets_with_them(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = "a,is:ill\n" + "".join(f"{i % 7},{'y' if i % 3 else 'n'}\n" for i in range(30))
    Path("x.csv").write_text(text)
    Path("y:z.csv").write_text(text)
    run = ["study", "run", "paper", "--out", "r", "--methods", "adaboost", "--rounds", 2, "--folds", 2, "--repeats", 1]
    code, out, err = command(
        *run, "--quiet", "--executor", "local", "--data", "x.csv:is:ill", "--data", "y:z.csv:is:ill"
    )
    assert (code, err) == (0, "")
    assert Store("r").protocol().files == {
        "x": (str(tmp_path / "x.csv"), "is:ill"),
        "y:z": (str(tmp_path / "y:z.csv"), "is:ill"),
    }
    assert out.startswith("4 of 4 folds are done")


def test_a_study_of_ones_own_may_name_its_files(paths, tmp_path):
    text = (resources.files("adacc.study") / "paper.toml").read_text()
    text = re.sub(r"datasets = \[.*?\]", 'datasets = ["mine"]', text, count=1, flags=re.S)
    (tmp_path / "own.toml").write_text(f"{text}\n[files]\nmine = ['{paths[0]}', 'ill']\n")
    run = ["study", "run", tmp_path / "own.toml", "--out", tmp_path / "r", "--quiet", "--executor", "local"]
    code, out, err = command(*run, "--methods", "adaboost", "--rounds", 2, "--folds", 2, "--repeats", 1)
    assert (code, err) == (0, "")
    assert out.startswith("2 of 2 folds are done")
    assert Store(tmp_path / "r").protocol().files == {"mine": (str(paths[0]), "ill")}


@pytest.mark.parametrize("form", thinned(FORMATS, ["markdown", "latex"]))
def test_tables_are_printed(faked, form):
    assert command("study", "tables", faked, "--format", form) == (0, all_tables_of(faked)[form], "")


def test_tables_are_listed_and_chosen(faked):
    code, listed, _ = command("study", "tables", faked, "--list")
    assert (code, listed.splitlines()[0].split(":")[0]) == (0, "results-paper")
    code, out, _ = command("study", "tables", faked, "--only", "nemenyi-paper,ranks-T3-paper")
    assert out.index("Mean ranks") < out.index("Ranks by balanced accuracy, T = 3")
    assert out.count("formulas as printed") == 2


def test_status_is_aligned(tmp_path):
    protocol = plan([tmp_path / "a.csv", tmp_path / "longer_name.csv"], ["adacc1", "csb1"])
    fake(protocol, Store(tmp_path / "r"), failing=[("csb1", "a")])
    Store(tmp_path / "r").path(protocol.tasks()[-1]).unlink()
    assert command("study", "status", tmp_path / "r")[1].splitlines() == [
        "data set      folds  time per fold  failed methods",
        "-----------  ------  -------------  --------------",
        "a            2 of 2          1.0 s  csb1 (2)",
        "longer_name  1 of 2          1.0 s",
        "",
        "3 of 4 folds are done, about 75% of the work, in 3.0 seconds of computation.",
    ]


def test_data_sets_are_listed(tmp_path, monkeypatch):
    monkeypatch.setenv("ADACC_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("ADACC_DATA", raising=False)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "wilt.parquet").touch()
    code, out, err = command("datasets", "list", "--data-dir", tmp_path / "mine")
    lines = out.splitlines()
    assert (code, err) == (0, "")
    assert len(lines) == 27 + 5
    assert [line.split()[-1] for line in lines[:1]] == ["description"]
    wilt = next(line for line in lines if line.startswith("wilt"))
    assert wilt.split()[:6] == ["wilt", "4,839", "5", "261", "1:17.5", "yes"]
    assert lines[0].index("ratio") + len("ratio") == wilt.index("1:17.5") + len("1:17.5")
    assert sum(line.split()[5] == "no" for line in lines[2:29]) == 26
    assert lines[-2:] == [
        f"1 of 27 data sets are in {tmp_path / 'mine'}.",
        "Other data sets are downloaded when first used, or by `adacc datasets fetch`.",
    ]


def test_help_explains_every_option():
    for action in ("run", "tables", "status"):
        code, out, _ = command("study", action, "--help")
        assert code == 0
        bare = re.findall(r"^  (--[a-z-]+|[A-Z]+)(?: \S+)?$(?!\n {10,}\S)", out, flags=re.M)
        assert bare == []

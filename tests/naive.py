"""Every method as docs/methods.md states it: slow loops, no import from adacc. The oracle of the fast paths.

`boost` is the one loop. A method is a function of a few lines that returns what its row in docs/methods.md says: a
`Rule`, whose defaults are adaboost's.

Conventions beyond docs/methods.md:

- Costs are divided by their maximum. The cost of a row (`sample_cost`) is multiplied by that of its class, and the
  products are divided by their maximum; the cost of a class is then the mean of its rows by sample_weight.
- Rows of sample_weight 0 are dropped first: all lists, and the rows that `sample` returns, count over those that
  remain.
- A vote is ½(ln odds + ln(K-1)) and counts if it exceeds ROUNDING. Odds whose denominator is at most ROUNDING
  times the numerator are infinite: their vote is the cap ½(ln n + ln(K-1)), n = max(Σ sample_weight,
  rows). Finite votes are never cut. Then the learning rate multiplies the vote, before any use of it.
- A weighted error of at most ROUNDING is perfect: kept, and boosting ends. A failing round is discarded and
  boosting ends; a failing first round is kept with vote 1 (no learning rate).
- A score within ROUNDING of 0 goes to `negative_class` (K = 2); K > 2: the lowest class within ROUNDING of the
  largest. Leaf classes likewise, for weights within TIE of the largest, the learner's weights summing to 1.
  A branch without weight predicts the learner's overall class.
- The split of the largest impurity decrease; a later candidate must win by more than TIE. Order: features; in
  a numeric one thresholds ascending, then "present against missing" (cut +inf); in a categorical one "equals
  the category", ascending, NaN last. Missing values of a numeric feature are a third leaf of each of its
  splits; in a categorical feature NaN is one more category (where the cut is NaN, NaN goes left).
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from math import exp
from types import SimpleNamespace

import numpy as np

ROUNDING = 1e-10
TIE = 1e-12


def right_mass(W, c):
    """Σ c·D over the right rows; W[t][p] is the weight D of the rows of true class t predicted p."""
    return sum(c[k] * W[k][k] for k in range(len(W)))


def wrong_mass(W, c):
    """Σ c·D over the wrong rows."""
    return sum(c[t] * W[t][p] for t in range(len(W)) for p in range(len(W)) if t != p)


def error_odds(W, C):
    """(1-e)/e, as numerator and denominator."""
    e = wrong_mass(W, [1] * len(W))
    return 1 - e, e


@dataclass
class Rule:  # `a` is the vote, `c` the cost of a row's true class, in AdaCC written C
    initial: list | None = None  # weights D by class; None: 1
    odds: Callable = error_odds  # (W, C) -> the odds of the vote
    odds_by_class: Callable | None = None  # W -> odds by predicted class, where the votes differ
    right: Callable = lambda a, c: exp(-a)  # factor of a right row
    wrong: Callable = lambda a, c: exp(a)  # factor of a wrong row
    decision: list | None = None  # what multiplies the votes for each class; None: 1
    rates_of: str | None = None  # AdaCC: C from the error rates of the "ensemble" or the "learner"
    keeps: bool = False  # whether the synthetic rows of a round stay for all later ones


def adaboost(costs, opt):
    return Rule()


def cgada(costs, opt):
    return Rule(initial=costs)


def adamec(costs, opt):
    """+ where c₊·S₊ > c₋·S₋."""
    return Rule(decision=costs)


def csb1(costs, opt):
    """c·e^-1 / c·e^1; costs_on="errors": right rows without c; authors: 1 / e^c."""
    if opt.authors:
        return Rule(initial=costs, right=lambda a, c: 1.0, wrong=lambda a, c: exp(c))
    if opt.costs_on == "errors":
        return Rule(initial=costs, right=lambda a, c: exp(-1), wrong=lambda a, c: c * exp(1))
    return Rule(initial=costs, right=lambda a, c: c * exp(-1), wrong=lambda a, c: c * exp(1))


def csb2(costs, opt):
    """c·e^-a / c·e^a; costs_on="errors": right rows without c."""
    if opt.costs_on == "errors":
        return Rule(initial=costs, right=lambda a, c: exp(-a), wrong=lambda a, c: c * exp(a))
    return Rule(initial=costs, right=lambda a, c: c * exp(-a), wrong=lambda a, c: c * exp(a))


def adacost(costs, opt):
    """e^(-a·β_r) / e^(a·β_w), β_r = ½-½c, β_w = ½+½c; alpha="cost": odds (1+ρ)/(1-ρ), ρ = Σ D·y·h·β.

    authors: β of c' = min(c) + max(c) - c (two costs: swapped); 1 / e^(A·(½-½c')), A = 2a.
    """
    swapped = {c: min(costs) + max(costs) - c if opt.authors else c for c in costs}
    beta_r = {c: 0.5 - 0.5 * swapped[c] for c in costs}
    beta_w = {c: 0.5 + 0.5 * swapped[c] for c in costs}

    def rho_odds(W, C):
        rho = right_mass(W, [beta_r[c] for c in costs]) - wrong_mass(W, [beta_w[c] for c in costs])
        return 1 + rho, 1 - rho

    odds = rho_odds if opt.alpha == "cost" else error_odds
    if opt.authors:
        return Rule(costs, odds, right=lambda a, c: 1.0, wrong=lambda a, c: exp(2 * a * beta_r[c]))
    return Rule(costs, odds, right=lambda a, c: exp(-a * beta_r[c]), wrong=lambda a, c: exp(a * beta_w[c]))


def adac1(costs, opt):
    """Odds (1+r-w)/(1-r+w), r, w = Σ cD; e^(-c·a) / e^(c·a); authors: (1-e)/e, e = w/(r+w); 1 / e^(c·a)."""

    def odds(W, C):
        r, w = right_mass(W, costs), wrong_mass(W, costs)
        e = w / (r + w)
        return (1 - e, e) if opt.authors else (1 + r - w, 1 - r + w)

    if opt.authors:
        return Rule(costs, odds, right=lambda a, c: 1.0, wrong=lambda a, c: exp(c * a))
    return Rule(costs, odds, right=lambda a, c: exp(-c * a), wrong=lambda a, c: exp(c * a))


def adac2(costs, opt):
    """Odds r/w, r, w = Σ cD; c·e^-a / c·e^a."""

    def odds(W, C):
        return right_mass(W, costs), wrong_mass(W, costs)

    return Rule(costs, odds, right=lambda a, c: c * exp(-a), wrong=lambda a, c: c * exp(a))


def adac3(costs, opt):
    """Odds (s+r-w)/(s-r+w), s = Σ cD, r, w = Σ c²D; c·e^(-c·a) / c·e^(c·a); authors: c / c·e^(c·a)."""

    def odds(W, C):
        s = right_mass(W, costs) + wrong_mass(W, costs)
        r, w = right_mass(W, [c * c for c in costs]), wrong_mass(W, [c * c for c in costs])
        return s + r - w, s - r + w

    if opt.authors:
        return Rule(costs, odds, right=lambda a, c: c, wrong=lambda a, c: c * exp(c * a))
    return Rule(costs, odds, right=lambda a, c: c * exp(-c * a), wrong=lambda a, c: c * exp(c * a))


def rareboost(costs, opt):
    """Odds W[p,p] / Σ_{t≠p} W[t,p] by predicted class p; e^-α_p / e^α_p."""

    def odds_by_class(W):
        return [(W[p][p], sum(W[t][p] for t in range(len(W)) if t != p)) for p in range(len(W))]

    return Rule(odds_by_class=odds_by_class)


def adacc1(costs, opt, rates_of="ensemble"):
    """e^-a / e^(C·a); authors: 1 / e^(C·A), A = 2a; alpha="cost": odds (1+r-w)/(1-r+w), w = Σ_wrong CD."""

    def printed_odds(W, C):
        r, w = right_mass(W, [1] * len(W)), wrong_mass(W, C)
        return 1 + r - w, 1 - r + w

    odds = printed_odds if opt.alpha == "cost" else error_odds
    if opt.authors:
        return Rule(None, odds, right=lambda a, C: 1.0, wrong=lambda a, C: exp(C * 2 * a), rates_of=rates_of)
    return Rule(None, odds, wrong=lambda a, C: exp(C * a), rates_of=rates_of)


def adacc2(costs, opt, rates_of="ensemble"):
    """e^-a / C·e^a; alpha="cost": odds r/w, w = Σ_wrong CD."""

    def printed_odds(W, C):
        return right_mass(W, [1] * len(W)), wrong_mass(W, C)

    odds = printed_odds if opt.alpha == "cost" else error_odds
    return Rule(None, odds, wrong=lambda a, C: C * exp(a), rates_of=rates_of)


def smoteboost(costs, opt):
    """adaboost; authors: synthetic rows stay, as rows like any other; odds by predicted class, as in rareboost."""
    if opt.authors:
        return Rule(odds_by_class=rareboost(costs, opt).odds_by_class, keeps=True)
    return Rule()


def cumulative_costs(recall):
    """AdaCC's C: 1 + err_k for the class of the larger error rate (K > 2: rates above the mean), else 1."""
    err = [1 - r for r in recall]
    if len(err) == 2:
        return [1 + err[k] if err[k] > err[1 - k] + ROUNDING else 1.0 for k in (0, 1)]
    return [1 + rate if rate > sum(err) / len(err) + ROUNDING else 1.0 for rate in err]


FIXED_COSTS = {"cgada": cgada, "adamec": adamec, "cgada-cal": cgada, "adamec-cal": adaboost, "csb1": csb1}
FIXED_COSTS |= {"csb2": csb2, "adacost": adacost, "adac1": adac1, "adac2": adac2, "adac3": adac3}
NO_COSTS = {"adaboost": adaboost, "rareboost": rareboost, "rusboost": adaboost, "smoteboost": smoteboost}
ADACC = {"adacc1": adacc1, "adan-cc1": partial(adacc1, rates_of="learner")}
ADACC |= {"adacc2": adacc2, "adan-cc2": partial(adacc2, rates_of="learner")}


def rule_and_costs(method, K, costs, alpha="error", costs_on="all", dialect="paper", by_row=False):
    """The rule, with a number for each class where it says None, and the fixed costs, the largest being 1.

    With `by_row`, the costs are those of the rows, and so is the rule's `initial`: every row is a class of its own.
    """
    costs = [1.0] * K if costs is None or method not in FIXED_COSTS else costs
    costs = [float(c) / max(costs) for c in costs]
    opt = SimpleNamespace(alpha=alpha, costs_on=costs_on, authors=dialect == "authors")
    rule = (FIXED_COSTS | NO_COSTS | ADACC)[method](costs, opt)
    rule.initial, rule.decision = rule.initial or [1.0] * K, [1.0] * K if by_row else rule.decision or [1.0] * K
    return rule, costs


def weights_by_row(D, y, h):
    """W with a class for every row, so that W times the costs of these classes is a sum over the rows."""
    n = len(D)
    W = [[0.0] * n for _ in range(n)]
    for i in range(n):
        W[i][i if y[i] == h[i] else i - 1] = D[i]
    return W


def half_log_odds(numerator, denominator, K, cap):
    if denominator <= ROUNDING * numerator:
        return cap
    if numerator <= 0:
        return -math.inf
    return 0.5 * (math.log(numerator / denominator) + math.log(K - 1))


def vote(rule, W, C, cap, K):
    """The votes by predicted class; None: no better than chance."""
    a = half_log_odds(*rule.odds(W, C), K, cap)
    if a <= ROUNDING:
        return None
    if rule.odds_by_class is None:
        return [a] * K
    votes = [half_log_odds(*odds, K, cap) if any(odds) else 0.0 for odds in rule.odds_by_class(W)]
    return None if min(votes) < -ROUNDING else [max(a, 0.0) for a in votes]


def used(votes, K, learning_rate):
    """The votes as they count. Those of a failing round (None) only count in the first: 1."""
    return [1.0] * K if votes is None else [learning_rate * a for a in votes]


def branch(x, feature, cut, categorical):
    """Which branch of the split the row x takes: 0 left, 1 right, 2 missing."""
    if feature == -1:
        return 0
    if feature in categorical:
        return 0 if x[feature] == cut or (math.isnan(x[feature]) and math.isnan(cut)) else 1
    if math.isnan(x[feature]):
        return 2
    return 0 if x[feature] <= cut else 1


def candidates(X, categorical):
    """All splits (feature, cut) of the training rows, in the order in which they are tried."""
    splits = []
    for feature in range(len(X[0])):
        values = sorted({x[feature] for x in X if not math.isnan(x[feature])})
        missing = any(math.isnan(x[feature]) for x in X)
        if feature in categorical:
            cuts = values + [math.nan] * missing
        else:
            cuts = [(values[i] + values[i + 1]) / 2 for i in range(len(values) - 1)] + [math.inf] * missing
        splits += [(feature, cut) for cut in cuts]
    return splits


def impurity(weights, criterion):
    p = [w / sum(weights) for w in weights]
    if criterion == "gini":
        return 1 - sum(q * q for q in p)
    if criterion == "entropy":
        return -sum(q * math.log(q) for q in p if q > 0)
    return 1 - max(p)  # "error"


def leaf_weights(X, y, weights, K, split, categorical):
    """The weight of each class in each of the three branches."""
    leaves = [[0.0] * K for _ in range(3)]
    for x, k, w in zip(X, y, weights, strict=True):
        leaves[branch(x, *split, categorical)][k] += w
    return leaves


def leaf_class(weights, negative_class):
    tied = [k for k, w in enumerate(weights) if w >= max(weights) - TIE]
    return negative_class if len(weights) == len(tied) == 2 else tied[0]


def fit_stump(X, y, weights, K, splits, criterion, categorical, negative_class):
    """The best of the splits, and the class that each of its three branches predicts."""
    total = sum(weights)
    weights = [w / total for w in weights]
    best_gain, best_split = 0.0, (-1, None)
    best_leaves = leaf_weights(X, y, weights, K, best_split, categorical)
    everything = best_leaves[0]
    for split in splits:
        leaves = leaf_weights(X, y, weights, K, split, categorical)
        left_over = sum(sum(leaf) * impurity(leaf, criterion) for leaf in leaves if sum(leaf) > 0)
        gain = impurity(everything, criterion) - left_over
        if gain > best_gain + TIE:
            best_gain, best_split, best_leaves = gain, split, leaves
    seen = [leaf if sum(leaf) > 0 else everything for leaf in best_leaves]
    left, right, missing = (leaf_class(leaf, negative_class) for leaf in seen)
    return best_split, (left, right, right if best_split[0] in categorical else missing)


@dataclass
class Round:
    feature: int  # -1: a learner without a split
    cut: float | None  # the threshold, +inf for "present against missing", or the category
    left: int  # the class that each branch predicts
    right: int
    missing: int
    predicted: list  # class of each row
    alpha: list  # vote by predicted class, learning rate included
    weighted_error: float
    normaliser: float  # Z
    bound: float  # product of the Z so far
    class_cost: list  # c by true class; C for AdaCC; 1 where the method has no costs
    class_weight: list  # D by true class before the round
    class_recall: list  # of the ensemble, this round included
    weights_before: list
    weights_after: list
    scores: list  # of the rows, this round included


def add_votes(scores, predicted, alpha, d):
    """The scores after one more vote for each row: a number for K = 2, one number per class for K > 2."""
    if len(d) == 2:
        return [s + d[p] * alpha[p] * (1 if p == 1 else -1) for s, p in zip(scores, predicted, strict=True)]
    votes = [[d[k] * alpha[k] * (k == p) for k in range(len(d))] for p in predicted]
    return [[s + v for s, v in zip(S, V, strict=True)] for S, V in zip(scores, votes, strict=True)]


def decide(score, negative_class):
    if isinstance(score, float):
        return negative_class if abs(score) <= ROUNDING else int(score > 0)
    return min(k for k, S in enumerate(score) if max(score) - S <= ROUNDING)


def recalls(y, predicted, sample_weight, K):
    """The share of each class that is predicted right."""
    total, right = [0.0] * K, [0.0] * K
    for t, p, w in zip(y, predicted, sample_weight, strict=True):
        total[t] += w
        right[t] += w * (t == p)
    return [right[k] / total[k] for k in range(K)]


def scores(rounds, X, *, method, K, costs=None, categorical=()):
    """The additive scores of new rows."""
    rule, _ = rule_and_costs(method, K, costs)
    result = [0.0 if K == 2 else [0.0] * K for _ in X]
    for r in rounds:
        predicted = [(r.left, r.right, r.missing)[branch(x, r.feature, r.cut, categorical)] for x in X]
        result = add_votes(result, predicted, r.alpha, rule.decision)
    return result


def recalls_of_some(y, predicted, sample_weight, K, some, otherwise):
    """The same among some rows; of a class that has none of these, `otherwise`."""
    found = list(otherwise)
    for k in range(K):
        weights = [(sample_weight[i], predicted[i] == k) for i in some if y[i] == k]
        if weights:
            found[k] = sum(w for w, right in weights if right) / sum(w for w, _ in weights)
    return found


def boost(X, y, method, *, n_rounds, costs=None, alpha="error", costs_on="all", dialect="paper", sample=None,
          subsample=False, out_of_bag=False, learning_rate=1.0, sample_weight=None, criterion="gini", categorical=(),
          negative_class=0, sample_cost=None):  # fmt: skip
    """Boost stumps; one Round for each round that is kept.

    With `subsample` a failing round has vote 0 and leaves the weights as they are. With `out_of_bag` votes and costs
    come from the rows that were not sampled: e and the odds from these alone, their weights summing to 1; the
    ensemble's recall from rows that have heard any round, each scored by the rounds that did not sample it. Where a
    rule keeps synthetic rows, `sample` gives the new ones; e and the odds come from all rows, real and kept. D and Z
    are those of the real rows, 1 in all; a kept row's weight is in the same unit.
    """
    sample_weight = np.ones(len(y)) if sample_weight is None else np.asarray(sample_weight, dtype=float)
    present = sample_weight > 0
    X, y = np.asarray(X, dtype=float)[present].tolist(), np.asarray(y)[present].tolist()
    sample_weight = sample_weight[present].tolist()
    K, rows = max(y) + 1, range(len(y))
    by_row = sample_cost is not None
    if by_row:
        of_class = [1.0] * K if costs is None else costs
        costs = [c * of_class[k] for c, k in zip(np.asarray(sample_cost, dtype=float)[present], y, strict=True)]
    rule, costs = rule_and_costs(method, K, costs, alpha, costs_on, dialect, by_row)
    c_row, initial = (costs, rule.initial) if by_row else ([costs[k] for k in y], [rule.initial[k] for k in y])
    if by_row:
        costs = [np.average([c_row[i] for i in rows if y[i] == k],
                            weights=[sample_weight[i] for i in rows if y[i] == k]) for k in range(K)]  # fmt: skip
    cap = 0.5 * (math.log(len(rows)) + math.log(K - 1))
    splits = candidates(X, categorical)

    total = sum(sample_weight[i] * initial[i] for i in rows)
    D = [sample_weight[i] * initial[i] / total for i in rows]
    ensemble = [0.0 if K == 2 else [0.0] * K for _ in rows]
    unseen_ensemble, heard = list(ensemble), set()
    kept_X, kept_y, kept_D = [], [], []
    bound, rounds = 1.0, []
    for t in range(n_rounds):
        # 1. the weak learner
        seen_X, seen_y, seen_D = X, y, D
        if sample is not None:
            chosen, chosen_D, extra_X, extra_y, extra_D = sample(t, np.array(D))
            if rule.keeps:
                new = (1 + sum(kept_D)) / (len(y) + len(kept_y))  # 1/n of the weight of all rows
                kept_X, kept_y, kept_D = kept_X + extra_X, kept_y + extra_y, kept_D + [new] * len(extra_y)
                extra_X, extra_y, extra_D = kept_X, kept_y, kept_D
            seen_X, seen_y = [X[i] for i in chosen] + [*extra_X], [y[i] for i in chosen] + [*extra_y]
            seen_D = [*chosen_D, *extra_D]
        split, classes = fit_stump(seen_X, seen_y, seen_D, K, splits, criterion, categorical, negative_class)
        h = [classes[branch(x, *split, categorical)] for x in X]

        # 2. the weights by true and predicted class
        W = [[sum(D[i] for i in rows if (y[i], h[i]) == (k, p)) for p in range(K)] for k in range(K)]
        judged, unseen = W, list(rows)
        if out_of_bag:
            unseen = [i for i in rows if i not in set(chosen)]
            mass = sum(D[i] for i in unseen)
            if mass > 0:
                of = {i: (y[i], h[i]) for i in unseen}
                judged = [[sum(D[i] for i in unseen if of[i] == (k, p)) / mass for p in range(K)] for k in range(K)]
        kept_h = [classes[branch(x, *split, categorical)] for x in kept_X]
        if rule.keeps:
            everyone = list(zip(D + kept_D, y + kept_y, h + kept_h, strict=True))
            mass = sum(w for w, _, _ in everyone)
            judged = [[sum(w for w, *pair in everyone if pair == [k, p]) / mass for p in range(K)] for k in range(K)]
        e = wrong_mass(judged, [1] * K)

        def heard_by_the_unseen(a, scores, h=h, unseen=unseen):
            after = add_votes(scores, h, a, rule.decision)
            return [after[i] if i in unseen else scores[i] for i in rows]

        def with_a_vote(a, h=h, unseen=unseen, heard=heard):
            return heard | {i for i in unseen if a[h[i]] != 0.0}

        def recall_of(scores, unseen_scores, heard):
            recall = recalls(y, [decide(s, negative_class) for s in scores], sample_weight, K)
            if not out_of_bag:
                return recall
            decided = [decide(s, negative_class) for s in unseen_scores]
            return recalls_of_some(y, decided, sample_weight, K, heard, recall)

        # 3. and 4. the vote; where the costs C come from the ensemble, a provisional vote comes first
        C = costs
        if rule.rates_of == "learner":
            C = recalls_of_some(y, h, sample_weight, K, unseen, recalls(y, h, sample_weight, K))
            C = cumulative_costs(C)
        if rule.rates_of == "ensemble":
            a = used(vote(rule, judged, costs, cap, K), K, learning_rate)
            provisional = add_votes(ensemble, h, a, rule.decision)
            C = cumulative_costs(recall_of(provisional, heard_by_the_unseen(a, unseen_ensemble), with_a_vote(a)))
        if by_row:
            judged_D = [D[i] / mass * (i in unseen) for i in rows] if out_of_bag and mass > 0 else D
            votes = vote(rule, weights_by_row(judged_D, y, h), C, cap, K)
        else:
            votes = vote(rule, judged, C, cap, K)
        if votes is None and t > 0 and not subsample:
            break
        a = [0.0] * K if votes is None and subsample else used(votes, K, learning_rate)
        ensemble, unseen_ensemble = add_votes(ensemble, h, a, rule.decision), heard_by_the_unseen(a, unseen_ensemble)
        heard = with_a_vote(a)
        recall = recall_of(ensemble, unseen_ensemble, heard)

        # 5. the factors and the new weights
        def factor(t, p, c, a=a, failed=votes is None and subsample):
            return 1.0 if failed else (rule.right if t == p else rule.wrong)(a[p], c)

        f = [factor(y[i], h[i], c_row[i] if by_row else C[y[i]]) for i in rows]
        Z = sum(f[i] * D[i] for i in rows)
        bound *= Z
        before, D, mass = D, [D[i] * f[i] / Z for i in rows], [sum(row) for row in W]
        kept_D = [w * factor(k, p, C[k]) / Z for w, k, p in zip(kept_D, kept_y, kept_h, strict=True)]
        rounds.append(Round(*split, *classes, h, a, e, Z, bound, C, mass, recall, before, D, ensemble))
        if (votes is None and not subsample) or wrong_mass(W, [1] * K) <= ROUNDING:
            break
    return rounds

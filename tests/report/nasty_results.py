"""Results that a report must survive."""

from made_result import result

LONG = "a name of two hundred characters " * 6 + "ends"
SCRIPT = "</script><script>window.broken = 1</script>"
IMAGE = "<img src=x onerror='window.broken = 2'>"
EMOJI = "crème 🍮 \"q\" & 'r' <b>bold</b>"


def hostile():
    """Markup in every name that comes from a user."""
    made = result()
    data, model = made["data"], made["model"]
    made["command"] = f"adacc compare '{SCRIPT}.csv'"
    data |= {
        "source": f"{EMOJI}.csv",
        "positive": SCRIPT,
        "negative": IMAGE,
        "target": EMOJI,
        "dropped": [SCRIPT, LONG],
    }
    for column, name in zip(data["columns"], (SCRIPT, IMAGE, EMOJI, LONG), strict=False):
        column["name"] = name
    data["findings"].append({"level": "warning", "title": f"Column {SCRIPT}", "text": IMAGE})
    for method, label in zip(made["methods"], (SCRIPT, IMAGE, EMOJI, LONG), strict=False):
        method |= {"label": label, "about": IMAGE}
    for each, name in zip(model["importances"], (SCRIPT, IMAGE, EMOJI, LONG), strict=False):
        each["feature"] = name
    for shape, name in zip(model["shapes"], (SCRIPT, IMAGE, EMOJI, LONG), strict=False):
        shape["feature"] = name
    for each, name in zip(model["contributions"], (SCRIPT, IMAGE, EMOJI, LONG), strict=False):
        each["feature"] = name
    for each, name in zip(model["examples"][0]["contributions"], (SCRIPT, IMAGE, EMOJI, LONG), strict=False):
        each |= {"feature": name, "value": name}
    model["shapes"][-1]["labels"] = [SCRIPT, IMAGE, EMOJI, LONG]
    return made


def one_method():
    made = result()
    made["methods"] = made["methods"][:1]
    return made


def failures():
    """A method that failed in a part, and one that failed in all."""
    made = result()
    made["methods"][2]["failed"] = {"folds": 2, "reason": "ValueError: <b>no</b> weights"}
    reason = {"folds": 4, "reason": "MemoryError: 3 GB"}
    made["methods"][-1] |= {"metrics": {}, "failed": reason, "versus_best": None, "pooled": None, "cost": None}
    return made


def nothing_finished():
    made = result()
    for method in made["methods"]:
        reason = {"folds": 4, "reason": "RuntimeError"}
        method |= {"metrics": {}, "failed": reason, "versus_best": None, "pooled": None, "cost": None}
    return made | {"model": None}


def stopped():
    made = result() | {"stopped": True}
    made["protocol"] |= {"n_folds": 20, "repeats": 5, "n_folds_done": 1}
    for method in made["methods"]:
        for values in method["metrics"].values():
            values |= {"std": None, "low": None, "high": None, "by_fold": values["by_fold"][:1]}
        if method["versus_best"]:
            method["versus_best"] |= {"low": None, "high": None, "folds": 1, "p": None, "significant": False}
    return made


def without_model():
    return result() | {"model": None}


def many_columns():
    made = result()
    one = made["data"]["columns"][0]
    made["data"]["columns"] = [one | {"name": f"column {n}", "alone": None} for n in range(300)]
    made["model"]["importances"] = [{"feature": f"column {n}", "share": 1 / 300} for n in range(300)]
    return made


def undefined():
    """Measures that do not exist, and numbers that are none."""
    made = result()
    for method in made["methods"][:2]:
        for name in ("auc", "average_precision", "tpr", "brier"):
            method["metrics"][name] = {"mean": None, "std": None, "low": None, "high": None, "by_fold": [None] * 4}
        method["pooled"]["pr"]["precision"][0] = None
        method["pooled"]["calibration"] = []
    made["methods"][3]["metrics"]["f1"] = None
    made["methods"][4]["metrics"]["gmean"]["low"] = float("nan")
    made["model"]["rounds_history"]["rare_error"][0] = None
    made["model"]["cost"] = 0.3
    made["data"]["duplicates"] = {"rows": 0, "across_folds": 0, "together": False, "contradicting": 0}
    return made


def of_trees():
    """A forest: neither curves nor rounds."""
    made = result()
    made["model"] |= {"label": "AdaCC forest", "rounds": 730, "bags": 100, "shapes": [], "rounds_history": None}
    return made


NASTY = [hostile, one_method, failures, nothing_finished, stopped, without_model, many_columns, undefined, of_trees]

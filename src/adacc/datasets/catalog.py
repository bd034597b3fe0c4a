"""The catalogue of the 27 data sets of the AdaCC paper."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from adacc.datasets import columns


@dataclass(frozen=True)
class Zenodo:
    """The archive of the benchmark data sets of imbalanced-learn, with the names of the catalogue.

    Its tables are not modified; the rarer label becomes 1.
    """

    address = "https://zenodo.org/record/61452"


@dataclass(frozen=True)
class OpenML:
    """A table of OpenML and its preparation, in this order; then the rarer label becomes 1."""

    number: int
    no_features: tuple[str, ...] = ()
    """Columns to drop if they exist; the others are renamed by position."""
    drop_missing: bool = False
    drop_level: tuple[str, str] | None = None
    """A column and the level whose rows are dropped."""
    drop_duplicates: bool = False
    """Keep the first of rows that are equal in all features and the label."""
    z_scores: bool = False
    """Standardize numbers with the sample standard deviation, rounded to six significant digits."""

    @property
    def address(self) -> str:
        return f"https://www.openml.org/d/{self.number}"


Source: TypeAlias = Zenodo | OpenML


@dataclass(frozen=True)
class Entry:
    """A data set of the paper.

    Attributes
    ----------
    name : str
        Name of the data set and, with ``.parquet``, of its file.
    title : str
        Title at the source.
    target : str
        Description of the rare class.
    source : Zenodo or OpenML
        The source and the preparation.
    minority, majority : int
        Rows of the rare class (target 1) and of the other (target 0).
    columns : tuple of str
        The features.
    checksum : str
        Checksum of the prepared table, by `adacc.datasets.checksum`.
    categorical : tuple of str
        The categorical features; the others are numeric.
    paper_drops : tuple of str
        Features that the paper does not use.
    note : str
        Peculiarities of the table or of its download.

    Examples
    --------
    >>> entry = CATALOGUE["spambase"]
    >>> entry.rows, entry.features, entry.paper_features, entry.source.address
    (4601, 57, 53, 'https://www.openml.org/d/44')
    """

    name: str
    title: str
    target: str
    source: Source
    minority: int
    majority: int
    columns: tuple[str, ...]
    checksum: str
    categorical: tuple[str, ...] = ()
    paper_drops: tuple[str, ...] = ()
    note: str = ""

    @property
    def rows(self) -> int:
        return self.minority + self.majority

    @property
    def features(self) -> int:
        return len(self.columns)

    @property
    def paper_features(self) -> int:
        """How many of the features the paper uses."""
        return self.features - len(self.paper_drops)


def _numbered(pattern: str, first: int, last: int) -> tuple[str, ...]:
    return tuple(pattern.format(number) for number in range(first, last + 1))


REBUILT = (
    "the checksum is of a copy rebuilt from the original files, not of the archive's own table, whose rows may be in "
    "another order"
)

_ENTRIES = [
    Entry("abalone", "UCI Abalone", "7 rings",
          Zenodo(), 391, 3786, columns.ABALONE, "d103874c7040d467d510bea58ddee585",
          note="the sex is one-hot, as in the archive"),
    Entry("adult", "UCI Adult (Census Income), training and test rows", "an income above 50,000 dollars",
          OpenML(1590, drop_missing=True, drop_duplicates=True), 11202, 33973, columns.ADULT,
          "7eb201f80b6bce00b279bcc1a3087707",
          categorical=columns.names("workclass education marital_status occupation relationship race sex "
                                    "native_country"),
          note="rows with missing values are dropped (45,222 are left), then repeated ones (45,175, the paper's); "
               "OpenML may have them in another order"),
    Entry("bank", "UCI Bank Marketing, bank-full", "the client takes the deposit",
          OpenML(1461, drop_level=("marital", "divorced")), 4667, 35337, columns.BANK,
          "6ddce844bc69ba35b2d3667d68674520",
          categorical=columns.names("job marital education default housing loan contact month poutcome"),
          note="the paper's table has no divorced clients; they are dropped. The level 'unknown' is no missing value"),
    Entry("car_eval_34", "UCI Car Evaluation", "good or very good",
          Zenodo(), 134, 1594, columns.CAR_EVAL_34, "6e423513cae231a58217f7c58af83901",
          note="all features are one-hot, as in the archive"),
    Entry("coil_2000", "CoIL 2000 challenge (UCI Insurance Company Benchmark), training and evaluation rows",
          "has a caravan policy",
          Zenodo(), 586, 9236, columns.COIL_2000, "f08a10a2da96d722b990a684c77a8157", note=REBUILT),
    Entry("credit", "UCI Default of Credit Card Clients", "does not pay next month",
          OpenML(42477, no_features=("ID", "id")), 6636, 23364, columns.CREDIT, "cea2fd2d3ea2eb14ed95e3d520e92068",
          note="sex, education and marriage are integer codes and used as numbers"),
    Entry("eeg_eye", "UCI EEG Eye State", "the eye is closed",
          OpenML(1471), 6723, 8257, columns.EEG_EYE, "0a9bc5531389386348ad934e764481be",
          note="a few values are far out of range; they are in the original"),
    Entry("electricity", "Elec2, electricity of New South Wales, normalised", "the price goes up",
          OpenML(151), 19237, 26075, columns.ELECTRICITY, "5b2a4a8f1af13c637c7bf67018366d53",
          note="rows are in the order of time; the day of the week is used as a number"),
    Entry("isolet", "UCI ISOLET, parts 1 to 5", "the letter A or B",
          Zenodo(), 600, 7197, _numbered("f{:03d}", 1, 617), "afc500635936884b1f2af1699f1bc0c5", note=REBUILT),
    Entry("letter_img", "UCI Letter Recognition", "the letter Z",
          Zenodo(), 734, 19266, columns.LETTER_IMG, "f9d07e5c832b8f8daa1ea47579fc3f78"),
    Entry("mammography", "Mammography (Woods et al. 1993)", "calcification",
          Zenodo(), 260, 10923, _numbered("f{}", 0, 5), "547dc49b51e46019554db89c6cbc3662"),
    Entry("musk2", "UCI Musk, version 2", "a musk",
          OpenML(1116, no_features=("ID", "molecule_name", "conformation_name"), z_scores=True),
          1017, 5581, _numbered("f{:03d}", 1, 166), "ee8075c5bdb7ddec82e514e4f6d17fbc",
          note="the paper's table holds z-scores to six digits, OpenML the whole numbers: they are z-scored the same "
               "way"),
    Entry("optical_digits", "UCI Optical Recognition of Handwritten Digits, training and test rows", "the digit 8",
          Zenodo(), 554, 5066, _numbered("f{:02d}", 0, 63), "ec2bd1978efdbd468dcf96905bd11315",
          note="f00 and f39 are constant"),
    Entry("ozone_level", "UCI Ozone Level Detection, one-hour peaks", "an ozone day",
          Zenodo(), 73, 2463, _numbered("f{:02d}", 0, 71), "4e0c2b8a293a5f10c123816543231b8b",
          note="missing values were filled in by the archive's makers"),
    Entry("pen_digits", "UCI Pen-Based Recognition of Handwritten Digits, training and test rows", "the digit 5",
          Zenodo(), 1055, 9937, _numbered("f{:02d}", 0, 15), "3b3be98011965598f7d8586be243b837"),
    Entry("phoneme", "ELENA Phoneme", "an oral vowel",
          OpenML(1489), 1586, 3818, _numbered("V{}", 1, 5), "c148b07f8b9da99bce94bce4cdb62505"),
    Entry("protein_homo", "KDD Cup 2004, protein homology, training rows", "homologous to the native sequence",
          Zenodo(), 1296, 144455, _numbered("f{:02d}", 1, 74), "6d458f2595bbebaae9b8f38503d7477e",
          note=f"rows come in 153 blocks of one native sequence each, which random folds mix; {REBUILT}"),
    Entry("satimage", "UCI Statlog, Landsat Satellite", "class 4 (damp grey soil)",
          Zenodo(), 626, 5809, _numbered("f{:02d}", 0, 35), "2c94f7d815e3169b6dd1b8972563be4d"),
    Entry("scene", "Scene (Boutell et al. 2004), training and test rows", "more than one label",
          Zenodo(), 177, 2230, _numbered("Att{}", 1, 294), "7cfdd6948575928d8d25922c4b7aa6b0",
          note="the labels are no features; numbers have six decimals here and may be scaled in the archive; "
               f"{REBUILT}"),
    Entry("sick_euthyroid", "UCI Thyroid Disease, sick-euthyroid", "sick-euthyroid",
          Zenodo(), 293, 2870, columns.SICK_EUTHYROID, "e5a5b4735cb5f4379a19b772bd1db4e1",
          note="sex and yes/no features are one-hot and missing measurements filled in, as in the archive"),
    Entry("skin", "UCI Skin Segmentation", "skin",
          OpenML(1502), 50859, 194198, columns.SKIN, "dda14051259618adff68d2269b2bf1eb",
          note="four rows of five repeat another: what is tested on was often trained on"),
    Entry("spambase", "UCI Spambase", "spam",
          OpenML(44), 1813, 2788, columns.SPAMBASE, "5301153930bcba695b0c95cdf6a6729e",
          paper_drops=("word_freq_make", "word_freq_address", "word_freq_all", "word_freq_3d"),
          note="the paper's code reads the first four of the 57 columns as an index: its figures are of the other 53"),
    Entry("thyroid_sick", "UCI Thyroid Disease, sick, training and test rows", "sick",
          Zenodo(), 231, 3541, columns.THYROID_SICK, "697016dbc1870e3b01d5c15887fead6b",
          note="categories are one-hot and missing measurements filled in, as in the archive"),
    Entry("us_crime", "UCI Communities and Crime", "more than 0.65 violent crimes, normalised",
          Zenodo(), 150, 1844, _numbered("f{:02d}", 0, 99), "22f7a5e8889f8337ccde4263467da2af",
          note="the 100 columns without missing values"),
    Entry("webpage", "LIBSVM w7a (Platt's web pages), training and test rows without repeated ones",
          "the labelled category",
          Zenodo(), 981, 33799, _numbered("f{:03d}", 1, 300), "6b77c83114bb27a08d728dfd7de91a4f", note=REBUILT),
    Entry("wilt", "UCI Wilt, training and test rows", "diseased trees",
          OpenML(40983), 261, 4578, columns.WILT, "30fdb8be2463185b42d27a6de1ae614d"),
    Entry("wine_quality", "UCI Wine Quality, white", "quality of 4 or less",
          Zenodo(), 183, 4715, columns.WINE_QUALITY, "178a77ec4787ac67759a3ff6ba06643a"),
]  # fmt: skip

CATALOGUE: dict[str, Entry] = {entry.name: entry for entry in _ENTRIES}

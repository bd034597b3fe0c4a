"""Validation of what the commands write with --json."""

import jsonschema

from adacc import schemas


def check(name, found):
    """Raise an error if the file of a command has a key that its schema lacks, or lacks one."""
    jsonschema.Draft202012Validator(schemas.load(name)).validate(found)

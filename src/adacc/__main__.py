"""`python -m adacc` is the command `adacc`."""

import sys

from adacc.cli import main

if __name__ == "__main__":
    sys.exit(main())

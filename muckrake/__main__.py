"""`python -m muckrake` is the command line."""

import sys

from api.main import main

if __name__ == "__main__":
    sys.exit(main())

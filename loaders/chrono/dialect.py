"""The two readings of Chrono YAML."""

import enum


class Dialect(enum.Enum):
    """Which meaning a file has where the format's specification and its program differ.

    - SEED: what the specification says.
    - CHRONO_10: what `run_chrono` of Chrono 10 does.
    """

    SEED = "seed"
    CHRONO_10 = "chrono-10"

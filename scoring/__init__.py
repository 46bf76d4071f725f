"""Pure scoring: numpy arrays and frozen dataclasses in, frozen results out. No I/O, no clock."""

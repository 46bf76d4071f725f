"""The newest schema revision this version knows."""

HEAD = "0006"

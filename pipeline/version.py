"""The tool's own version, part of every number's provenance."""

from importlib.metadata import PackageNotFoundError, version

try:
    TOOL_VERSION = version("medoid")
except PackageNotFoundError:  # running from a source tree that is not installed
    TOOL_VERSION = "0.0.0+source"

"""Tests written from DEFINITIONS and the contract alone, blind to the implementation."""

"""The repository: one method per question asked of the database."""

"""Local pages that talk to a server of ours."""

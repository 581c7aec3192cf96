"""Running policies over episodes, and counting."""

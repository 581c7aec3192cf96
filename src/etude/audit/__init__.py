"""How far a suite can be solved without the ability it tests: cheats, broken episodes, leaks between splits."""

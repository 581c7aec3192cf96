"""The papers of suites, played: every table and figure that asks something of a policy, in the paper's layout beside its numbers."""

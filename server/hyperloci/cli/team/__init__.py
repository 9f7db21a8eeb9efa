"""Team commands: what a person does with a team, its members and its projects."""

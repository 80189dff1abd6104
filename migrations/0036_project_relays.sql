CREATE TABLE `project_relays` (
	`project_seq` integer PRIMARY KEY NOT NULL,
	`url` blob NOT NULL,
	`changed_at` integer NOT NULL,
	FOREIGN KEY (`project_seq`) REFERENCES `projects`(`seq`) ON UPDATE no action ON DELETE no action
);

CREATE TABLE `project_relays` (
	`seq` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`id` text NOT NULL,
	`project_seq` integer NOT NULL,
	`host` text NOT NULL,
	`port` integer NOT NULL,
	`security` text NOT NULL,
	`username` text,
	`password` blob,
	`signed_by` text NOT NULL,
	`created_at` integer NOT NULL,
	`changed_at` integer NOT NULL,
	FOREIGN KEY (`project_seq`) REFERENCES `projects`(`seq`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE UNIQUE INDEX `project_relays_id_unique` ON `project_relays` (`id`);--> statement-breakpoint
CREATE UNIQUE INDEX `project_relays_project_seq_unique` ON `project_relays` (`project_seq`);
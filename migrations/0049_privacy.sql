CREATE TABLE `erasure_keys` (
	`project_seq` integer PRIMARY KEY NOT NULL,
	`key` blob NOT NULL,
	FOREIGN KEY (`project_seq`) REFERENCES `projects`(`seq`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE TABLE `erasures` (
	`seq` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`id` text NOT NULL,
	`project_seq` integer NOT NULL,
	`digest` text NOT NULL,
	`standing` text,
	`state` text NOT NULL,
	`actor_kind` text NOT NULL,
	`actor_id` text,
	`counts` text DEFAULT '{}' NOT NULL,
	`position` text NOT NULL,
	`subject` blob,
	`requested_at` integer NOT NULL,
	`completed_at` integer,
	FOREIGN KEY (`project_seq`) REFERENCES `projects`(`seq`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE UNIQUE INDEX `erasures_id_unique` ON `erasures` (`id`);--> statement-breakpoint
CREATE INDEX `erasures_digest` ON `erasures` (`project_seq`,`digest`);--> statement-breakpoint
CREATE INDEX `erasures_page` ON `erasures` (`project_seq`,`seq`);--> statement-breakpoint
CREATE INDEX `erasures_running` ON `erasures` (`seq`) WHERE state = 'RUNNING';--> statement-breakpoint
CREATE TABLE `page_fill` (
	`seq` integer PRIMARY KEY NOT NULL,
	`bytes` blob NOT NULL
);

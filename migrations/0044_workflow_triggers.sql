CREATE TABLE `workflow_entry_runs` (
	`seq` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`id` text NOT NULL,
	`project_seq` integer NOT NULL,
	`workflow_seq` integer NOT NULL,
	`planned_at` integer,
	`status` text NOT NULL,
	`error` text,
	`segment_id` text,
	`cursor` integer DEFAULT 0 NOT NULL,
	`end_seq` integer NOT NULL,
	`entered` integer DEFAULT 0 NOT NULL,
	`skipped` integer DEFAULT 0 NOT NULL,
	`created_at` integer NOT NULL,
	`completed_at` integer,
	FOREIGN KEY (`project_seq`) REFERENCES `projects`(`seq`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`workflow_seq`) REFERENCES `workflows`(`seq`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE UNIQUE INDEX `workflow_entry_runs_id_unique` ON `workflow_entry_runs` (`id`);--> statement-breakpoint
CREATE INDEX `workflow_entry_runs_page` ON `workflow_entry_runs` (`workflow_seq`,`seq`);--> statement-breakpoint
CREATE UNIQUE INDEX `workflow_entry_runs_planned` ON `workflow_entry_runs` (`workflow_seq`,`planned_at`) WHERE planned_at IS NOT NULL;--> statement-breakpoint
CREATE INDEX `workflow_entry_runs_open` ON `workflow_entry_runs` (`seq`) WHERE status = 'RUNNING';--> statement-breakpoint
CREATE TABLE `workflow_exits` (
	`version_seq` integer NOT NULL,
	`project_seq` integer NOT NULL,
	`event_name` text NOT NULL,
	`reason` text NOT NULL,
	PRIMARY KEY(`version_seq`, `event_name`),
	FOREIGN KEY (`version_seq`) REFERENCES `workflow_versions`(`seq`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`project_seq`) REFERENCES `projects`(`seq`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE INDEX `workflow_exits_event` ON `workflow_exits` (`project_seq`,`event_name`);--> statement-breakpoint
ALTER TABLE `workflow_versions` ADD `number` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `workflow_versions` ADD `author_kind` text;--> statement-breakpoint
ALTER TABLE `workflow_versions` ADD `author_id` text;--> statement-breakpoint
ALTER TABLE `workflow_versions` ADD `author_name` text;--> statement-breakpoint
ALTER TABLE `workflows` ADD `trigger_type` text DEFAULT 'EVENT' NOT NULL;--> statement-breakpoint
ALTER TABLE `workflows` ADD `next_entry_at` integer;--> statement-breakpoint
ALTER TABLE `workflows` ADD `revision` integer DEFAULT 1 NOT NULL;--> statement-breakpoint
CREATE INDEX `workflows_next_entry` ON `workflows` (`next_entry_at`) WHERE next_entry_at IS NOT NULL;--> statement-breakpoint
UPDATE `workflow_versions` SET `number` = (SELECT count(*) FROM `workflow_versions` AS `other` WHERE `other`.`workflow_seq` = `workflow_versions`.`workflow_seq` AND `other`.`seq` <= `workflow_versions`.`seq`);
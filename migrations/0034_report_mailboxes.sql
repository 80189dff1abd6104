CREATE TABLE `report_mailbox_messages` (
	`mailbox_seq` integer NOT NULL,
	`uid` text NOT NULL,
	`is_report` integer NOT NULL,
	PRIMARY KEY(`mailbox_seq`, `uid`),
	FOREIGN KEY (`mailbox_seq`) REFERENCES `report_mailboxes`(`seq`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE TABLE `report_mailboxes` (
	`seq` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`id` text NOT NULL,
	`project_seq` integer NOT NULL,
	`name` text NOT NULL,
	`protocol` text NOT NULL,
	`security` text NOT NULL,
	`host` text NOT NULL,
	`port` integer NOT NULL,
	`username` text NOT NULL,
	`password` blob NOT NULL,
	`folder` text NOT NULL,
	`uid_validity` integer,
	`last_uid` integer DEFAULT 0 NOT NULL,
	`received` integer DEFAULT 0 NOT NULL,
	`counted` integer DEFAULT 0 NOT NULL,
	`unknown` integer DEFAULT 0 NOT NULL,
	`last_fetched_at` integer,
	`failed_at` integer,
	`failure` text,
	`created_at` integer NOT NULL,
	FOREIGN KEY (`project_seq`) REFERENCES `projects`(`seq`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE UNIQUE INDEX `report_mailboxes_id_unique` ON `report_mailboxes` (`id`);--> statement-breakpoint
CREATE INDEX `report_mailboxes_page` ON `report_mailboxes` (`project_seq`,`seq`);
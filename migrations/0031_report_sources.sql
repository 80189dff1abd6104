CREATE TABLE `report_sources` (
	`seq` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`id` text NOT NULL,
	`project_seq` integer NOT NULL,
	`provider` text NOT NULL,
	`name` text NOT NULL,
	`digest` text NOT NULL,
	`signing_key` blob,
	`topic_arn` text,
	`received` integer DEFAULT 0 NOT NULL,
	`counted` integer DEFAULT 0 NOT NULL,
	`unknown` integer DEFAULT 0 NOT NULL,
	`last_received_at` integer,
	`refused_at` integer,
	`refusal` text,
	`created_at` integer NOT NULL,
	FOREIGN KEY (`project_seq`) REFERENCES `projects`(`seq`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE UNIQUE INDEX `report_sources_id_unique` ON `report_sources` (`id`);--> statement-breakpoint
CREATE UNIQUE INDEX `report_sources_digest_unique` ON `report_sources` (`digest`);--> statement-breakpoint
CREATE INDEX `report_sources_page` ON `report_sources` (`project_seq`,`seq`);
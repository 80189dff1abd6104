CREATE TABLE `tracking_hosts` (
	`seq` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`id` text NOT NULL,
	`project_seq` integer NOT NULL,
	`host` text NOT NULL,
	`status` text NOT NULL,
	`problem` text,
	`misses` integer DEFAULT 0 NOT NULL,
	`verified_at` integer,
	`checked_at` integer,
	`next_check_at` integer NOT NULL,
	`certificate` blob,
	`created_at` integer NOT NULL,
	FOREIGN KEY (`project_seq`) REFERENCES `projects`(`seq`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE UNIQUE INDEX `tracking_hosts_id_unique` ON `tracking_hosts` (`id`);--> statement-breakpoint
CREATE UNIQUE INDEX `tracking_hosts_host_unique` ON `tracking_hosts` (`host`);--> statement-breakpoint
CREATE INDEX `tracking_hosts_page` ON `tracking_hosts` (`project_seq`,`seq`);--> statement-breakpoint
CREATE INDEX `tracking_hosts_due` ON `tracking_hosts` (`next_check_at`);
CREATE TABLE `direct_sites` (
	`name` text PRIMARY KEY NOT NULL,
	`has_good_session` integer NOT NULL,
	`mean_ms` integer,
	`mail_limit` integer NOT NULL,
	`pauses` integer NOT NULL,
	`paused_until` integer,
	`updated_at` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `direct_sites_age` ON `direct_sites` (`has_good_session`,`updated_at`,`name`);
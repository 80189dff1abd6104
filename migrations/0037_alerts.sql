CREATE TABLE `alert_notices` (
	`seq` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`target` text NOT NULL,
	`kind` text NOT NULL,
	`alert_seq` integer,
	`created_at` integer NOT NULL,
	`attempts` integer DEFAULT 0 NOT NULL,
	`next_at` integer,
	`tried_at` integer,
	`is_delivered` integer DEFAULT false NOT NULL,
	`reply` text,
	FOREIGN KEY (`alert_seq`) REFERENCES `alerts`(`seq`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE UNIQUE INDEX `alert_notices_alert` ON `alert_notices` (`alert_seq`,`kind`,`target`);--> statement-breakpoint
CREATE INDEX `alert_notices_due` ON `alert_notices` (`target`,`seq`) WHERE next_at IS NOT NULL;--> statement-breakpoint
CREATE INDEX `alert_notices_target` ON `alert_notices` (`target`,`seq`);--> statement-breakpoint
CREATE INDEX `alert_notices_digests` ON `alert_notices` (`created_at`) WHERE alert_seq IS NULL;--> statement-breakpoint
CREATE TABLE `alerts` (
	`seq` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`id` text NOT NULL,
	`condition` text NOT NULL,
	`subject` text NOT NULL,
	`severity` text NOT NULL,
	`title` text NOT NULL,
	`finding` text NOT NULL,
	`fix` text NOT NULL,
	`raised_at` integer NOT NULL,
	`cleared_at` integer
);
--> statement-breakpoint
CREATE UNIQUE INDEX `alerts_id_unique` ON `alerts` (`id`);--> statement-breakpoint
CREATE UNIQUE INDEX `alerts_open` ON `alerts` (`condition`,`subject`) WHERE cleared_at IS NULL;--> statement-breakpoint
CREATE INDEX `alerts_cleared` ON `alerts` (`cleared_at`) WHERE cleared_at IS NOT NULL;--> statement-breakpoint
CREATE TABLE `disk_samples` (
	`at` integer PRIMARY KEY NOT NULL,
	`free_bytes` integer NOT NULL,
	`used_bytes` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `domains_failing` ON `domains` (`failing_since`) WHERE failing_since IS NOT NULL;--> statement-breakpoint
CREATE INDEX `webhooks_failing` ON `webhooks` (`failing_since`) WHERE failing_since IS NOT NULL;
CREATE TABLE `preference_requests` (
	`seq` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`project_seq` integer NOT NULL,
	`contact_seq` integer NOT NULL,
	`kind` text NOT NULL,
	`new_address` text,
	`digest` text NOT NULL,
	`uses_left` integer NOT NULL,
	`created_at` integer NOT NULL,
	`expires_at` integer NOT NULL,
	FOREIGN KEY (`project_seq`) REFERENCES `projects`(`seq`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`contact_seq`) REFERENCES `contacts`(`seq`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE UNIQUE INDEX `preference_requests_digest_unique` ON `preference_requests` (`digest`);--> statement-breakpoint
CREATE INDEX `preference_requests_contact` ON `preference_requests` (`contact_seq`,`kind`,`created_at`);--> statement-breakpoint
CREATE INDEX `preference_requests_address` ON `preference_requests` (`project_seq`,`new_address`,`created_at`) WHERE new_address IS NOT NULL;--> statement-breakpoint
CREATE INDEX `preference_requests_expiry` ON `preference_requests` (`expires_at`);
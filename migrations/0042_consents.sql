CREATE TABLE `consent_wordings` (
	`seq` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`project_seq` integer NOT NULL,
	`digest` text NOT NULL,
	`text` text NOT NULL,
	`created_at` integer NOT NULL,
	FOREIGN KEY (`project_seq`) REFERENCES `projects`(`seq`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE UNIQUE INDEX `consent_wordings_digest` ON `consent_wordings` (`project_seq`,`digest`);--> statement-breakpoint
CREATE TABLE `consents` (
	`seq` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`project_seq` integer NOT NULL,
	`contact_seq` integer NOT NULL,
	`kind` text NOT NULL,
	`topic_seq` integer,
	`source_type` text NOT NULL,
	`source_id` text,
	`client_address` text,
	`wording_seq` integer,
	`at` integer NOT NULL,
	FOREIGN KEY (`project_seq`) REFERENCES `projects`(`seq`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`contact_seq`) REFERENCES `contacts`(`seq`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`wording_seq`) REFERENCES `consent_wordings`(`seq`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE INDEX `consents_contact` ON `consents` (`contact_seq`,`seq`);--> statement-breakpoint
CREATE INDEX `consents_page` ON `consents` (`project_seq`,`seq`);--> statement-breakpoint
CREATE INDEX `consents_wording` ON `consents` (`wording_seq`) WHERE wording_seq IS NOT NULL;--> statement-breakpoint
CREATE TRIGGER `usage_of_consents_out` AFTER DELETE ON consents BEGIN
	UPDATE project_usage SET stored_bytes = stored_bytes - (80 + coalesce(octet_length(old.source_id), 0) + coalesce(octet_length(old.client_address), 0)) WHERE project_seq = old.project_seq;
END

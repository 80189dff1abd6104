CREATE TABLE `form_days` (
	`form_seq` integer NOT NULL,
	`day` integer NOT NULL,
	`shown` integer DEFAULT 0 NOT NULL,
	`submitted` integer DEFAULT 0 NOT NULL,
	`confirmed` integer DEFAULT 0 NOT NULL,
	PRIMARY KEY(`form_seq`, `day`),
	FOREIGN KEY (`form_seq`) REFERENCES `forms`(`seq`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE TABLE `form_submissions` (
	`seq` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`project_seq` integer NOT NULL,
	`form_seq` integer NOT NULL,
	`token_digest` text NOT NULL,
	`email` text,
	`data` text,
	`topics` text,
	`wording` text,
	`client_address` text,
	`email_id` text,
	`created_at` integer NOT NULL,
	`expires_at` integer NOT NULL,
	`confirmed_at` integer,
	FOREIGN KEY (`project_seq`) REFERENCES `projects`(`seq`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`form_seq`) REFERENCES `forms`(`seq`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE UNIQUE INDEX `form_submissions_token_digest_unique` ON `form_submissions` (`token_digest`);--> statement-breakpoint
CREATE INDEX `form_submissions_email` ON `form_submissions` (`project_seq`,`email`,`created_at`) WHERE email IS NOT NULL;--> statement-breakpoint
CREATE INDEX `form_submissions_form` ON `form_submissions` (`form_seq`);--> statement-breakpoint
CREATE INDEX `form_submissions_expiry` ON `form_submissions` (`expires_at`);--> statement-breakpoint
CREATE TABLE `forms` (
	`seq` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`id` text NOT NULL,
	`project_seq` integer NOT NULL,
	`name` text NOT NULL,
	`title` text NOT NULL,
	`description` text,
	`fields` text NOT NULL,
	`topics` text NOT NULL,
	`consent` text,
	`has_consent_box` integer NOT NULL,
	`button_label` text,
	`confirmation` text NOT NULL,
	`template_id` text,
	`success_message` text,
	`success_url` text,
	`confirmed_url` text,
	`origins` text NOT NULL,
	`language` text,
	`is_enabled` integer NOT NULL,
	`shown` integer DEFAULT 0 NOT NULL,
	`submitted` integer DEFAULT 0 NOT NULL,
	`confirmed` integer DEFAULT 0 NOT NULL,
	`revision` integer DEFAULT 1 NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	FOREIGN KEY (`project_seq`) REFERENCES `projects`(`seq`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE UNIQUE INDEX `forms_id_unique` ON `forms` (`id`);--> statement-breakpoint
CREATE INDEX `forms_page` ON `forms` (`project_seq`,`seq`);--> statement-breakpoint
CREATE INDEX `forms_template` ON `forms` (`project_seq`,`template_id`) WHERE template_id IS NOT NULL;--> statement-breakpoint
CREATE TRIGGER `usage_of_form_submissions_data` AFTER UPDATE OF data ON form_submissions WHEN coalesce(octet_length(new.data), 0) <> coalesce(octet_length(old.data), 0) BEGIN
	UPDATE project_usage SET stored_bytes = stored_bytes + coalesce(octet_length(new.data), 0) - coalesce(octet_length(old.data), 0) WHERE project_seq = new.project_seq;
END;--> statement-breakpoint
CREATE TRIGGER `usage_of_form_submissions_email` AFTER UPDATE OF email ON form_submissions WHEN 2 * coalesce(octet_length(new.email), 0) <> 2 * coalesce(octet_length(old.email), 0) BEGIN
	UPDATE project_usage SET stored_bytes = stored_bytes + 2 * coalesce(octet_length(new.email), 0) - 2 * coalesce(octet_length(old.email), 0) WHERE project_seq = new.project_seq;
END;--> statement-breakpoint
CREATE TRIGGER `usage_of_form_submissions_in` AFTER INSERT ON form_submissions BEGIN
	UPDATE project_usage SET stored_bytes = stored_bytes + (300 + 2 * coalesce(octet_length(new.email), 0) + coalesce(octet_length(new.data), 0) + coalesce(octet_length(new.topics), 0) + coalesce(octet_length(new.wording), 0)) WHERE project_seq = new.project_seq;
END;--> statement-breakpoint
CREATE TRIGGER `usage_of_form_submissions_out` AFTER DELETE ON form_submissions BEGIN
	UPDATE project_usage SET stored_bytes = stored_bytes - (300 + 2 * coalesce(octet_length(old.email), 0) + coalesce(octet_length(old.data), 0) + coalesce(octet_length(old.topics), 0) + coalesce(octet_length(old.wording), 0)) WHERE project_seq = old.project_seq;
END;--> statement-breakpoint
CREATE TRIGGER `usage_of_form_submissions_topics` AFTER UPDATE OF topics ON form_submissions WHEN coalesce(octet_length(new.topics), 0) <> coalesce(octet_length(old.topics), 0) BEGIN
	UPDATE project_usage SET stored_bytes = stored_bytes + coalesce(octet_length(new.topics), 0) - coalesce(octet_length(old.topics), 0) WHERE project_seq = new.project_seq;
END;--> statement-breakpoint
CREATE TRIGGER `usage_of_form_submissions_wording` AFTER UPDATE OF wording ON form_submissions WHEN coalesce(octet_length(new.wording), 0) <> coalesce(octet_length(old.wording), 0) BEGIN
	UPDATE project_usage SET stored_bytes = stored_bytes + coalesce(octet_length(new.wording), 0) - coalesce(octet_length(old.wording), 0) WHERE project_seq = new.project_seq;
END;--> statement-breakpoint
CREATE TRIGGER `usage_of_forms_consent` AFTER UPDATE OF consent ON forms WHEN coalesce(octet_length(new.consent), 0) <> coalesce(octet_length(old.consent), 0) BEGIN
	UPDATE project_usage SET stored_bytes = stored_bytes + coalesce(octet_length(new.consent), 0) - coalesce(octet_length(old.consent), 0) WHERE project_seq = new.project_seq;
END;--> statement-breakpoint
CREATE TRIGGER `usage_of_forms_description` AFTER UPDATE OF description ON forms WHEN coalesce(octet_length(new.description), 0) <> coalesce(octet_length(old.description), 0) BEGIN
	UPDATE project_usage SET stored_bytes = stored_bytes + coalesce(octet_length(new.description), 0) - coalesce(octet_length(old.description), 0) WHERE project_seq = new.project_seq;
END;--> statement-breakpoint
CREATE TRIGGER `usage_of_forms_fields` AFTER UPDATE OF fields ON forms WHEN coalesce(octet_length(new.fields), 0) <> coalesce(octet_length(old.fields), 0) BEGIN
	UPDATE project_usage SET stored_bytes = stored_bytes + coalesce(octet_length(new.fields), 0) - coalesce(octet_length(old.fields), 0) WHERE project_seq = new.project_seq;
END;--> statement-breakpoint
CREATE TRIGGER `usage_of_forms_in` AFTER INSERT ON forms BEGIN
	UPDATE project_usage SET stored_bytes = stored_bytes + (500 + coalesce(octet_length(new.description), 0) + coalesce(octet_length(new.fields), 0) + coalesce(octet_length(new.topics), 0) + coalesce(octet_length(new.consent), 0)) WHERE project_seq = new.project_seq;
END;--> statement-breakpoint
CREATE TRIGGER `usage_of_forms_out` AFTER DELETE ON forms BEGIN
	UPDATE project_usage SET stored_bytes = stored_bytes - (500 + coalesce(octet_length(old.description), 0) + coalesce(octet_length(old.fields), 0) + coalesce(octet_length(old.topics), 0) + coalesce(octet_length(old.consent), 0)) WHERE project_seq = old.project_seq;
END;--> statement-breakpoint
CREATE TRIGGER `usage_of_forms_topics` AFTER UPDATE OF topics ON forms WHEN coalesce(octet_length(new.topics), 0) <> coalesce(octet_length(old.topics), 0) BEGIN
	UPDATE project_usage SET stored_bytes = stored_bytes + coalesce(octet_length(new.topics), 0) - coalesce(octet_length(old.topics), 0) WHERE project_seq = new.project_seq;
END;
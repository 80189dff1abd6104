ALTER TABLE `campaigns` ADD `category` text DEFAULT 'MARKETING' NOT NULL;--> statement-breakpoint
ALTER TABLE `campaigns` ADD `preheader` text;--> statement-breakpoint
ALTER TABLE `campaigns` ADD `format` text DEFAULT 'CODE' NOT NULL;--> statement-breakpoint
ALTER TABLE `campaigns` ADD `design` text;--> statement-breakpoint
ALTER TABLE `campaigns` ADD `layout_id` text;--> statement-breakpoint
ALTER TABLE `campaigns` ADD `template_id` text;--> statement-breakpoint
ALTER TABLE `campaigns` ADD `revision` integer DEFAULT 1 NOT NULL;--> statement-breakpoint
ALTER TABLE `campaigns` ADD `utm` text;--> statement-breakpoint
ALTER TABLE `campaigns` ADD `archive_slug` text;--> statement-breakpoint
ALTER TABLE `campaigns` ADD `is_archived` integer DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE `campaigns` ADD `message_seq` integer;--> statement-breakpoint
ALTER TABLE `campaigns` ADD `start_at` integer;--> statement-breakpoint
ALTER TABLE `campaigns` ADD `time_zone` text;--> statement-breakpoint
ALTER TABLE `campaigns` ADD `fallback_zone` text;--> statement-breakpoint
CREATE UNIQUE INDEX `campaigns_archive` ON `campaigns` (`project_seq`,`archive_slug`) WHERE archive_slug IS NOT NULL;--> statement-breakpoint
ALTER TABLE `messages` ADD `utm` text;--> statement-breakpoint
CREATE INDEX `emails_template` ON `emails` (`template_id`,`contact_seq`) WHERE template_id IS NOT NULL;--> statement-breakpoint
DROP TRIGGER `usage_of_campaigns_in`;--> statement-breakpoint
DROP TRIGGER `usage_of_campaigns_out`;--> statement-breakpoint
CREATE TRIGGER `usage_of_campaigns_design` AFTER UPDATE OF design ON campaigns WHEN coalesce(octet_length(new.design), 0) <> coalesce(octet_length(old.design), 0) BEGIN
	UPDATE project_usage SET stored_bytes = stored_bytes + coalesce(octet_length(new.design), 0) - coalesce(octet_length(old.design), 0) WHERE project_seq = new.project_seq;
END;--> statement-breakpoint
CREATE TRIGGER `usage_of_campaigns_in` AFTER INSERT ON campaigns BEGIN
	UPDATE project_usage SET stored_bytes = stored_bytes + (500 + coalesce(octet_length(new.subject), 0) + coalesce(octet_length(new.body), 0) + coalesce(octet_length(new.design), 0) + coalesce(octet_length(new.audience_filter), 0) + coalesce(octet_length(new.audience_condition), 0)) WHERE project_seq = new.project_seq;
END;--> statement-breakpoint
CREATE TRIGGER `usage_of_campaigns_out` AFTER DELETE ON campaigns BEGIN
	UPDATE project_usage SET stored_bytes = stored_bytes - (500 + coalesce(octet_length(old.subject), 0) + coalesce(octet_length(old.body), 0) + coalesce(octet_length(old.design), 0) + coalesce(octet_length(old.audience_filter), 0) + coalesce(octet_length(old.audience_condition), 0)) WHERE project_seq = old.project_seq;
END;
ALTER TABLE `emails` ADD `group_id` text;--> statement-breakpoint
ALTER TABLE `emails` ADD `tags` text;--> statement-breakpoint
ALTER TABLE `emails` ADD `scheduled_at` integer;--> statement-breakpoint
ALTER TABLE `messages` ADD `text` text;--> statement-breakpoint
ALTER TABLE `messages` ADD `recipients` text;--> statement-breakpoint
DROP TRIGGER `usage_of_emails_out`;--> statement-breakpoint
DROP TRIGGER `usage_of_messages_out`;--> statement-breakpoint
CREATE TRIGGER `usage_of_emails_out` AFTER DELETE ON emails BEGIN
	UPDATE project_usage SET stored_bytes = stored_bytes - (350 + coalesce(octet_length(old.variables), 0) + coalesce(octet_length(old.tags), 0)), emails = emails - (1), queued_mails = queued_mails - ((old.next_at IS NOT NULL AND old.campaign_seq IS NULL)) WHERE project_seq = old.project_seq;
END;--> statement-breakpoint
CREATE TRIGGER `usage_of_emails_tags` AFTER UPDATE OF tags ON emails WHEN coalesce(octet_length(new.tags), 0) <> coalesce(octet_length(old.tags), 0) BEGIN
	UPDATE project_usage SET stored_bytes = stored_bytes + coalesce(octet_length(new.tags), 0) - coalesce(octet_length(old.tags), 0) WHERE project_seq = new.project_seq;
END;--> statement-breakpoint
CREATE TRIGGER `usage_of_messages_out` AFTER DELETE ON messages BEGIN
	UPDATE project_usage SET stored_bytes = stored_bytes - (200 + coalesce(octet_length(old.html), 0) + coalesce(octet_length(old.headers), 0) + coalesce(octet_length(old.text), 0) + coalesce(octet_length(old.recipients), 0)) WHERE project_seq = old.project_seq;
END;--> statement-breakpoint
CREATE TRIGGER `usage_of_messages_recipients` AFTER UPDATE OF recipients ON messages WHEN coalesce(octet_length(new.recipients), 0) <> coalesce(octet_length(old.recipients), 0) BEGIN
	UPDATE project_usage SET stored_bytes = stored_bytes + coalesce(octet_length(new.recipients), 0) - coalesce(octet_length(old.recipients), 0) WHERE project_seq = new.project_seq;
END;--> statement-breakpoint
CREATE TRIGGER `usage_of_messages_text` AFTER UPDATE OF text ON messages WHEN coalesce(octet_length(new.text), 0) <> coalesce(octet_length(old.text), 0) BEGIN
	UPDATE project_usage SET stored_bytes = stored_bytes + coalesce(octet_length(new.text), 0) - coalesce(octet_length(old.text), 0) WHERE project_seq = new.project_seq;
END;

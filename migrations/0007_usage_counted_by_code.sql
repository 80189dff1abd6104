-- The code counts mails, messages and attempts where it inserts them (src/db/usage.ts). Subjects are
-- in the fixed bytes of a mail now.
DROP TRIGGER `usage_of_attempts_in`;--> statement-breakpoint
DROP TRIGGER `usage_of_messages_in`;--> statement-breakpoint
DROP TRIGGER `usage_of_emails_in`;--> statement-breakpoint
DROP TRIGGER `usage_of_emails_queued`;--> statement-breakpoint
DROP TRIGGER `usage_of_emails_subject`;--> statement-breakpoint
DROP TRIGGER `usage_of_emails_out`;--> statement-breakpoint
CREATE TRIGGER `usage_of_emails_out` AFTER DELETE ON emails BEGIN
	UPDATE project_usage SET stored_bytes = stored_bytes - (350 + coalesce(octet_length(old.variables), 0)), emails = emails - (1), queued_mails = queued_mails - ((old.next_at IS NOT NULL AND old.campaign_seq IS NULL)) WHERE project_seq = old.project_seq;
END;--> statement-breakpoint
UPDATE project_usage SET stored_bytes = stored_bytes + coalesce(
	(SELECT sum(50 - octet_length(subject)) FROM emails WHERE emails.project_seq = project_usage.project_seq), 0);

CREATE TABLE `project_usage` (
	`project_seq` integer PRIMARY KEY NOT NULL,
	`stored_bytes` integer DEFAULT 0 NOT NULL,
	`emails` integer DEFAULT 0 NOT NULL,
	`queued_mails` integer DEFAULT 0 NOT NULL,
	FOREIGN KEY (`project_seq`) REFERENCES `projects`(`seq`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
ALTER TABLE `attachment_contents` ADD `project_seq` integer REFERENCES projects(seq);--> statement-breakpoint
ALTER TABLE `jobs` ADD `file_bytes` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `idempotency_keys` ADD `project_seq` integer REFERENCES projects(seq);--> statement-breakpoint
-- By hand from here: whose content it is, what there is, and the triggers that src/db/usage.ts defines.
UPDATE `attachment_contents` SET `project_seq` = (
	SELECT m.`project_seq` FROM `message_attachments` a JOIN `messages` m ON m.`seq` = a.`message_seq`
	WHERE a.`content_digest` = `attachment_contents`.`digest` ORDER BY m.`seq` LIMIT 1);--> statement-breakpoint
INSERT INTO project_usage (project_seq) SELECT seq FROM projects;--> statement-breakpoint
INSERT INTO project_usage (project_seq, stored_bytes)
  SELECT r.project_seq, 200 + 2 * coalesce(octet_length(r.email), 0) + coalesce(octet_length(r.data), 0) FROM contacts r WHERE r.project_seq IS NOT NULL
  ON CONFLICT (project_seq) DO UPDATE SET stored_bytes = stored_bytes + excluded.stored_bytes;--> statement-breakpoint
INSERT INTO project_usage (project_seq, stored_bytes)
  SELECT r.project_seq, 60 + 2 * coalesce(octet_length(r.email), 0) FROM suppressions r WHERE r.project_seq IS NOT NULL
  ON CONFLICT (project_seq) DO UPDATE SET stored_bytes = stored_bytes + excluded.stored_bytes;--> statement-breakpoint
INSERT INTO project_usage (project_seq, stored_bytes, emails, queued_mails)
  SELECT r.project_seq, 300 + coalesce(octet_length(r.subject), 0) + coalesce(octet_length(r.variables), 0), 1, (r.next_at IS NOT NULL AND r.campaign_seq IS NULL) FROM emails r WHERE r.project_seq IS NOT NULL
  ON CONFLICT (project_seq) DO UPDATE SET stored_bytes = stored_bytes + excluded.stored_bytes, emails = emails + excluded.emails, queued_mails = queued_mails + excluded.queued_mails;--> statement-breakpoint
INSERT INTO project_usage (project_seq, stored_bytes)
  SELECT (SELECT project_seq FROM emails WHERE seq = r.email_seq), 80 + coalesce(octet_length(r.conversations), 0) FROM attempts r WHERE (SELECT project_seq FROM emails WHERE seq = r.email_seq) IS NOT NULL
  ON CONFLICT (project_seq) DO UPDATE SET stored_bytes = stored_bytes + excluded.stored_bytes;--> statement-breakpoint
INSERT INTO project_usage (project_seq, stored_bytes)
  SELECT (SELECT project_seq FROM emails WHERE seq = r.email_seq), 20 + coalesce(octet_length(r.raw), 0) FROM captured_messages r WHERE (SELECT project_seq FROM emails WHERE seq = r.email_seq) IS NOT NULL
  ON CONFLICT (project_seq) DO UPDATE SET stored_bytes = stored_bytes + excluded.stored_bytes;--> statement-breakpoint
INSERT INTO project_usage (project_seq, stored_bytes)
  SELECT r.project_seq, 200 + coalesce(octet_length(r.html), 0) + coalesce(octet_length(r.headers), 0) FROM messages r WHERE r.project_seq IS NOT NULL
  ON CONFLICT (project_seq) DO UPDATE SET stored_bytes = stored_bytes + excluded.stored_bytes;--> statement-breakpoint
INSERT INTO project_usage (project_seq, stored_bytes)
  SELECT (SELECT project_seq FROM messages WHERE seq = r.message_seq), 200 + coalesce(octet_length(r.filename), 0) FROM message_attachments r WHERE (SELECT project_seq FROM messages WHERE seq = r.message_seq) IS NOT NULL
  ON CONFLICT (project_seq) DO UPDATE SET stored_bytes = stored_bytes + excluded.stored_bytes;--> statement-breakpoint
INSERT INTO project_usage (project_seq, stored_bytes)
  SELECT r.project_seq, 150 + coalesce(octet_length(r.bytes), 0) FROM attachment_contents r WHERE r.project_seq IS NOT NULL
  ON CONFLICT (project_seq) DO UPDATE SET stored_bytes = stored_bytes + excluded.stored_bytes;--> statement-breakpoint
INSERT INTO project_usage (project_seq, stored_bytes)
  SELECT r.project_seq, 170 + 2 * coalesce(octet_length(r.name), 0) + coalesce(octet_length(r.data), 0) FROM events r WHERE r.project_seq IS NOT NULL
  ON CONFLICT (project_seq) DO UPDATE SET stored_bytes = stored_bytes + excluded.stored_bytes;--> statement-breakpoint
INSERT INTO project_usage (project_seq, stored_bytes)
  SELECT r.project_seq, 60 + 2 * coalesce(octet_length(r.name), 0) FROM event_names r WHERE r.project_seq IS NOT NULL
  ON CONFLICT (project_seq) DO UPDATE SET stored_bytes = stored_bytes + excluded.stored_bytes;--> statement-breakpoint
INSERT INTO project_usage (project_seq, stored_bytes)
  SELECT r.project_seq, 200 + coalesce(octet_length(r.subject), 0) + coalesce(octet_length(r.body), 0) FROM templates r WHERE r.project_seq IS NOT NULL
  ON CONFLICT (project_seq) DO UPDATE SET stored_bytes = stored_bytes + excluded.stored_bytes;--> statement-breakpoint
INSERT INTO project_usage (project_seq, stored_bytes)
  SELECT r.project_seq, 500 + coalesce(octet_length(r.subject), 0) + coalesce(octet_length(r.body), 0) + coalesce(octet_length(r.audience_filter), 0) + coalesce(octet_length(r.audience_condition), 0) FROM campaigns r WHERE r.project_seq IS NOT NULL
  ON CONFLICT (project_seq) DO UPDATE SET stored_bytes = stored_bytes + excluded.stored_bytes;--> statement-breakpoint
INSERT INTO project_usage (project_seq, stored_bytes)
  SELECT (SELECT project_seq FROM campaigns WHERE seq = r.campaign_seq), 50 + 2 * coalesce(octet_length(r.url), 0) FROM campaign_links r WHERE (SELECT project_seq FROM campaigns WHERE seq = r.campaign_seq) IS NOT NULL
  ON CONFLICT (project_seq) DO UPDATE SET stored_bytes = stored_bytes + excluded.stored_bytes;--> statement-breakpoint
INSERT INTO project_usage (project_seq, stored_bytes)
  SELECT r.project_seq, 300 + coalesce(octet_length(r.condition), 0) FROM segments r WHERE r.project_seq IS NOT NULL
  ON CONFLICT (project_seq) DO UPDATE SET stored_bytes = stored_bytes + excluded.stored_bytes;--> statement-breakpoint
INSERT INTO project_usage (project_seq, stored_bytes)
  SELECT (SELECT project_seq FROM segments WHERE seq = r.segment_seq), 30 FROM segment_members r WHERE (SELECT project_seq FROM segments WHERE seq = r.segment_seq) IS NOT NULL
  ON CONFLICT (project_seq) DO UPDATE SET stored_bytes = stored_bytes + excluded.stored_bytes;--> statement-breakpoint
INSERT INTO project_usage (project_seq, stored_bytes)
  SELECT r.project_seq, 600 FROM workflows r WHERE r.project_seq IS NOT NULL
  ON CONFLICT (project_seq) DO UPDATE SET stored_bytes = stored_bytes + excluded.stored_bytes;--> statement-breakpoint
INSERT INTO project_usage (project_seq, stored_bytes)
  SELECT (SELECT project_seq FROM workflows WHERE seq = r.workflow_seq), 100 + coalesce(octet_length(r.graph), 0) FROM workflow_versions r WHERE (SELECT project_seq FROM workflows WHERE seq = r.workflow_seq) IS NOT NULL
  ON CONFLICT (project_seq) DO UPDATE SET stored_bytes = stored_bytes + excluded.stored_bytes;--> statement-breakpoint
INSERT INTO project_usage (project_seq, stored_bytes)
  SELECT r.project_seq, 250 + coalesce(octet_length(r.context), 0) FROM workflow_executions r WHERE r.project_seq IS NOT NULL
  ON CONFLICT (project_seq) DO UPDATE SET stored_bytes = stored_bytes + excluded.stored_bytes;--> statement-breakpoint
INSERT INTO project_usage (project_seq, stored_bytes)
  SELECT (SELECT project_seq FROM workflow_executions WHERE seq = r.execution_seq), 90 + coalesce(octet_length(r.detail), 0) FROM workflow_execution_steps r WHERE (SELECT project_seq FROM workflow_executions WHERE seq = r.execution_seq) IS NOT NULL
  ON CONFLICT (project_seq) DO UPDATE SET stored_bytes = stored_bytes + excluded.stored_bytes;--> statement-breakpoint
INSERT INTO project_usage (project_seq, stored_bytes)
  SELECT r.project_seq, 600 + coalesce(octet_length(r.url), 0) + coalesce(octet_length(r.events), 0) FROM webhooks r WHERE r.project_seq IS NOT NULL
  ON CONFLICT (project_seq) DO UPDATE SET stored_bytes = stored_bytes + excluded.stored_bytes;--> statement-breakpoint
INSERT INTO project_usage (project_seq, stored_bytes)
  SELECT (SELECT project_seq FROM webhooks WHERE seq = r.webhook_seq), 400 FROM webhook_deliveries r WHERE (SELECT project_seq FROM webhooks WHERE seq = r.webhook_seq) IS NOT NULL
  ON CONFLICT (project_seq) DO UPDATE SET stored_bytes = stored_bytes + excluded.stored_bytes;--> statement-breakpoint
INSERT INTO project_usage (project_seq, stored_bytes)
  SELECT r.project_seq, 200 + coalesce(octet_length(r.input), 0) + coalesce(octet_length(r.errors), 0) + r.file_bytes FROM jobs r WHERE r.project_seq IS NOT NULL
  ON CONFLICT (project_seq) DO UPDATE SET stored_bytes = stored_bytes + excluded.stored_bytes;--> statement-breakpoint
INSERT INTO project_usage (project_seq, stored_bytes)
  SELECT r.project_seq, 8000 FROM domains r WHERE r.project_seq IS NOT NULL
  ON CONFLICT (project_seq) DO UPDATE SET stored_bytes = stored_bytes + excluded.stored_bytes;--> statement-breakpoint
INSERT INTO project_usage (project_seq, stored_bytes)
  SELECT r.project_seq, 260 + coalesce(octet_length(r.body), 0) FROM idempotency_keys r WHERE r.project_seq IS NOT NULL
  ON CONFLICT (project_seq) DO UPDATE SET stored_bytes = stored_bytes + excluded.stored_bytes;--> statement-breakpoint
CREATE TRIGGER `usage_of_attachment_contents_bytes` AFTER UPDATE OF bytes ON attachment_contents WHEN coalesce(octet_length(new.bytes), 0) <> coalesce(octet_length(old.bytes), 0) BEGIN
	UPDATE project_usage SET stored_bytes = stored_bytes + coalesce(octet_length(new.bytes), 0) - coalesce(octet_length(old.bytes), 0) WHERE project_seq = new.project_seq;
END;--> statement-breakpoint
CREATE TRIGGER `usage_of_attachment_contents_in` AFTER INSERT ON attachment_contents BEGIN
	UPDATE project_usage SET stored_bytes = stored_bytes + (150 + coalesce(octet_length(new.bytes), 0)) WHERE project_seq = new.project_seq;
END;--> statement-breakpoint
CREATE TRIGGER `usage_of_attachment_contents_out` AFTER DELETE ON attachment_contents BEGIN
	UPDATE project_usage SET stored_bytes = stored_bytes - (150 + coalesce(octet_length(old.bytes), 0)) WHERE project_seq = old.project_seq;
END;--> statement-breakpoint
CREATE TRIGGER `usage_of_attempts_cascade` BEFORE DELETE ON emails BEGIN
	UPDATE project_usage SET stored_bytes = stored_bytes - (SELECT coalesce(sum(80 + coalesce(octet_length(r.conversations), 0)), 0) FROM attempts r WHERE r.email_seq = old.seq) WHERE project_seq = old.project_seq;
END;--> statement-breakpoint
CREATE TRIGGER `usage_of_attempts_conversations` AFTER UPDATE OF conversations ON attempts WHEN coalesce(octet_length(new.conversations), 0) <> coalesce(octet_length(old.conversations), 0) BEGIN
	UPDATE project_usage SET stored_bytes = stored_bytes + coalesce(octet_length(new.conversations), 0) - coalesce(octet_length(old.conversations), 0) WHERE project_seq = (SELECT project_seq FROM emails WHERE seq = new.email_seq);
END;--> statement-breakpoint
CREATE TRIGGER `usage_of_attempts_in` AFTER INSERT ON attempts BEGIN
	UPDATE project_usage SET stored_bytes = stored_bytes + (80 + coalesce(octet_length(new.conversations), 0)) WHERE project_seq = (SELECT project_seq FROM emails WHERE seq = new.email_seq);
END;--> statement-breakpoint
CREATE TRIGGER `usage_of_attempts_out` AFTER DELETE ON attempts BEGIN
	UPDATE project_usage SET stored_bytes = stored_bytes - (80 + coalesce(octet_length(old.conversations), 0)) WHERE project_seq = (SELECT project_seq FROM emails WHERE seq = old.email_seq);
END;--> statement-breakpoint
CREATE TRIGGER `usage_of_campaign_links_cascade` BEFORE DELETE ON campaigns BEGIN
	UPDATE project_usage SET stored_bytes = stored_bytes - (SELECT coalesce(sum(50 + 2 * coalesce(octet_length(r.url), 0)), 0) FROM campaign_links r WHERE r.campaign_seq = old.seq) WHERE project_seq = old.project_seq;
END;--> statement-breakpoint
CREATE TRIGGER `usage_of_campaign_links_in` AFTER INSERT ON campaign_links BEGIN
	UPDATE project_usage SET stored_bytes = stored_bytes + (50 + 2 * coalesce(octet_length(new.url), 0)) WHERE project_seq = (SELECT project_seq FROM campaigns WHERE seq = new.campaign_seq);
END;--> statement-breakpoint
CREATE TRIGGER `usage_of_campaign_links_out` AFTER DELETE ON campaign_links BEGIN
	UPDATE project_usage SET stored_bytes = stored_bytes - (50 + 2 * coalesce(octet_length(old.url), 0)) WHERE project_seq = (SELECT project_seq FROM campaigns WHERE seq = old.campaign_seq);
END;--> statement-breakpoint
CREATE TRIGGER `usage_of_campaign_links_url` AFTER UPDATE OF url ON campaign_links WHEN 2 * coalesce(octet_length(new.url), 0) <> 2 * coalesce(octet_length(old.url), 0) BEGIN
	UPDATE project_usage SET stored_bytes = stored_bytes + 2 * coalesce(octet_length(new.url), 0) - 2 * coalesce(octet_length(old.url), 0) WHERE project_seq = (SELECT project_seq FROM campaigns WHERE seq = new.campaign_seq);
END;--> statement-breakpoint
CREATE TRIGGER `usage_of_campaigns_audience_condition` AFTER UPDATE OF audience_condition ON campaigns WHEN coalesce(octet_length(new.audience_condition), 0) <> coalesce(octet_length(old.audience_condition), 0) BEGIN
	UPDATE project_usage SET stored_bytes = stored_bytes + coalesce(octet_length(new.audience_condition), 0) - coalesce(octet_length(old.audience_condition), 0) WHERE project_seq = new.project_seq;
END;--> statement-breakpoint
CREATE TRIGGER `usage_of_campaigns_audience_filter` AFTER UPDATE OF audience_filter ON campaigns WHEN coalesce(octet_length(new.audience_filter), 0) <> coalesce(octet_length(old.audience_filter), 0) BEGIN
	UPDATE project_usage SET stored_bytes = stored_bytes + coalesce(octet_length(new.audience_filter), 0) - coalesce(octet_length(old.audience_filter), 0) WHERE project_seq = new.project_seq;
END;--> statement-breakpoint
CREATE TRIGGER `usage_of_campaigns_body` AFTER UPDATE OF body ON campaigns WHEN coalesce(octet_length(new.body), 0) <> coalesce(octet_length(old.body), 0) BEGIN
	UPDATE project_usage SET stored_bytes = stored_bytes + coalesce(octet_length(new.body), 0) - coalesce(octet_length(old.body), 0) WHERE project_seq = new.project_seq;
END;--> statement-breakpoint
CREATE TRIGGER `usage_of_campaigns_in` AFTER INSERT ON campaigns BEGIN
	UPDATE project_usage SET stored_bytes = stored_bytes + (500 + coalesce(octet_length(new.subject), 0) + coalesce(octet_length(new.body), 0) + coalesce(octet_length(new.audience_filter), 0) + coalesce(octet_length(new.audience_condition), 0)) WHERE project_seq = new.project_seq;
END;--> statement-breakpoint
CREATE TRIGGER `usage_of_campaigns_out` AFTER DELETE ON campaigns BEGIN
	UPDATE project_usage SET stored_bytes = stored_bytes - (500 + coalesce(octet_length(old.subject), 0) + coalesce(octet_length(old.body), 0) + coalesce(octet_length(old.audience_filter), 0) + coalesce(octet_length(old.audience_condition), 0)) WHERE project_seq = old.project_seq;
END;--> statement-breakpoint
CREATE TRIGGER `usage_of_campaigns_subject` AFTER UPDATE OF subject ON campaigns WHEN coalesce(octet_length(new.subject), 0) <> coalesce(octet_length(old.subject), 0) BEGIN
	UPDATE project_usage SET stored_bytes = stored_bytes + coalesce(octet_length(new.subject), 0) - coalesce(octet_length(old.subject), 0) WHERE project_seq = new.project_seq;
END;--> statement-breakpoint
CREATE TRIGGER `usage_of_captured_messages_cascade` BEFORE DELETE ON emails BEGIN
	UPDATE project_usage SET stored_bytes = stored_bytes - (SELECT coalesce(sum(20 + coalesce(octet_length(r.raw), 0)), 0) FROM captured_messages r WHERE r.email_seq = old.seq) WHERE project_seq = old.project_seq;
END;--> statement-breakpoint
CREATE TRIGGER `usage_of_captured_messages_in` AFTER INSERT ON captured_messages BEGIN
	UPDATE project_usage SET stored_bytes = stored_bytes + (20 + coalesce(octet_length(new.raw), 0)) WHERE project_seq = (SELECT project_seq FROM emails WHERE seq = new.email_seq);
END;--> statement-breakpoint
CREATE TRIGGER `usage_of_captured_messages_out` AFTER DELETE ON captured_messages BEGIN
	UPDATE project_usage SET stored_bytes = stored_bytes - (20 + coalesce(octet_length(old.raw), 0)) WHERE project_seq = (SELECT project_seq FROM emails WHERE seq = old.email_seq);
END;--> statement-breakpoint
CREATE TRIGGER `usage_of_captured_messages_raw` AFTER UPDATE OF raw ON captured_messages WHEN coalesce(octet_length(new.raw), 0) <> coalesce(octet_length(old.raw), 0) BEGIN
	UPDATE project_usage SET stored_bytes = stored_bytes + coalesce(octet_length(new.raw), 0) - coalesce(octet_length(old.raw), 0) WHERE project_seq = (SELECT project_seq FROM emails WHERE seq = new.email_seq);
END;--> statement-breakpoint
CREATE TRIGGER `usage_of_contacts_data` AFTER UPDATE OF data ON contacts WHEN coalesce(octet_length(new.data), 0) <> coalesce(octet_length(old.data), 0) BEGIN
	UPDATE project_usage SET stored_bytes = stored_bytes + coalesce(octet_length(new.data), 0) - coalesce(octet_length(old.data), 0) WHERE project_seq = new.project_seq;
END;--> statement-breakpoint
CREATE TRIGGER `usage_of_contacts_email` AFTER UPDATE OF email ON contacts WHEN 2 * coalesce(octet_length(new.email), 0) <> 2 * coalesce(octet_length(old.email), 0) BEGIN
	UPDATE project_usage SET stored_bytes = stored_bytes + 2 * coalesce(octet_length(new.email), 0) - 2 * coalesce(octet_length(old.email), 0) WHERE project_seq = new.project_seq;
END;--> statement-breakpoint
CREATE TRIGGER `usage_of_contacts_in` AFTER INSERT ON contacts BEGIN
	UPDATE project_usage SET stored_bytes = stored_bytes + (200 + 2 * coalesce(octet_length(new.email), 0) + coalesce(octet_length(new.data), 0)) WHERE project_seq = new.project_seq;
END;--> statement-breakpoint
CREATE TRIGGER `usage_of_contacts_out` AFTER DELETE ON contacts BEGIN
	UPDATE project_usage SET stored_bytes = stored_bytes - (200 + 2 * coalesce(octet_length(old.email), 0) + coalesce(octet_length(old.data), 0)) WHERE project_seq = old.project_seq;
END;--> statement-breakpoint
CREATE TRIGGER `usage_of_domains_in` AFTER INSERT ON domains BEGIN
	UPDATE project_usage SET stored_bytes = stored_bytes + (8000) WHERE project_seq = new.project_seq;
END;--> statement-breakpoint
CREATE TRIGGER `usage_of_domains_out` AFTER DELETE ON domains BEGIN
	UPDATE project_usage SET stored_bytes = stored_bytes - (8000) WHERE project_seq = old.project_seq;
END;--> statement-breakpoint
CREATE TRIGGER `usage_of_emails_in` AFTER INSERT ON emails BEGIN
	UPDATE project_usage SET stored_bytes = stored_bytes + (300 + coalesce(octet_length(new.subject), 0) + coalesce(octet_length(new.variables), 0)), emails = emails + (1), queued_mails = queued_mails + ((new.next_at IS NOT NULL AND new.campaign_seq IS NULL)) WHERE project_seq = new.project_seq;
END;--> statement-breakpoint
CREATE TRIGGER `usage_of_emails_out` AFTER DELETE ON emails BEGIN
	UPDATE project_usage SET stored_bytes = stored_bytes - (300 + coalesce(octet_length(old.subject), 0) + coalesce(octet_length(old.variables), 0)), emails = emails - (1), queued_mails = queued_mails - ((old.next_at IS NOT NULL AND old.campaign_seq IS NULL)) WHERE project_seq = old.project_seq;
END;--> statement-breakpoint
CREATE TRIGGER `usage_of_emails_queued` AFTER UPDATE OF next_at ON emails WHEN (new.next_at IS NOT NULL AND new.campaign_seq IS NULL) <> (old.next_at IS NOT NULL AND old.campaign_seq IS NULL) BEGIN
	UPDATE project_usage SET queued_mails = queued_mails + (new.next_at IS NOT NULL AND new.campaign_seq IS NULL) - (old.next_at IS NOT NULL AND old.campaign_seq IS NULL) WHERE project_seq = new.project_seq;
END;--> statement-breakpoint
CREATE TRIGGER `usage_of_emails_subject` AFTER UPDATE OF subject ON emails WHEN coalesce(octet_length(new.subject), 0) <> coalesce(octet_length(old.subject), 0) BEGIN
	UPDATE project_usage SET stored_bytes = stored_bytes + coalesce(octet_length(new.subject), 0) - coalesce(octet_length(old.subject), 0) WHERE project_seq = new.project_seq;
END;--> statement-breakpoint
CREATE TRIGGER `usage_of_emails_variables` AFTER UPDATE OF variables ON emails WHEN coalesce(octet_length(new.variables), 0) <> coalesce(octet_length(old.variables), 0) BEGIN
	UPDATE project_usage SET stored_bytes = stored_bytes + coalesce(octet_length(new.variables), 0) - coalesce(octet_length(old.variables), 0) WHERE project_seq = new.project_seq;
END;--> statement-breakpoint
CREATE TRIGGER `usage_of_event_names_in` AFTER INSERT ON event_names BEGIN
	UPDATE project_usage SET stored_bytes = stored_bytes + (60 + 2 * coalesce(octet_length(new.name), 0)) WHERE project_seq = new.project_seq;
END;--> statement-breakpoint
CREATE TRIGGER `usage_of_event_names_name` AFTER UPDATE OF name ON event_names WHEN 2 * coalesce(octet_length(new.name), 0) <> 2 * coalesce(octet_length(old.name), 0) BEGIN
	UPDATE project_usage SET stored_bytes = stored_bytes + 2 * coalesce(octet_length(new.name), 0) - 2 * coalesce(octet_length(old.name), 0) WHERE project_seq = new.project_seq;
END;--> statement-breakpoint
CREATE TRIGGER `usage_of_event_names_out` AFTER DELETE ON event_names BEGIN
	UPDATE project_usage SET stored_bytes = stored_bytes - (60 + 2 * coalesce(octet_length(old.name), 0)) WHERE project_seq = old.project_seq;
END;--> statement-breakpoint
CREATE TRIGGER `usage_of_events_data` AFTER UPDATE OF data ON events WHEN coalesce(octet_length(new.data), 0) <> coalesce(octet_length(old.data), 0) BEGIN
	UPDATE project_usage SET stored_bytes = stored_bytes + coalesce(octet_length(new.data), 0) - coalesce(octet_length(old.data), 0) WHERE project_seq = new.project_seq;
END;--> statement-breakpoint
CREATE TRIGGER `usage_of_events_in` AFTER INSERT ON events BEGIN
	UPDATE project_usage SET stored_bytes = stored_bytes + (170 + 2 * coalesce(octet_length(new.name), 0) + coalesce(octet_length(new.data), 0)) WHERE project_seq = new.project_seq;
END;--> statement-breakpoint
CREATE TRIGGER `usage_of_events_name` AFTER UPDATE OF name ON events WHEN 2 * coalesce(octet_length(new.name), 0) <> 2 * coalesce(octet_length(old.name), 0) BEGIN
	UPDATE project_usage SET stored_bytes = stored_bytes + 2 * coalesce(octet_length(new.name), 0) - 2 * coalesce(octet_length(old.name), 0) WHERE project_seq = new.project_seq;
END;--> statement-breakpoint
CREATE TRIGGER `usage_of_events_out` AFTER DELETE ON events BEGIN
	UPDATE project_usage SET stored_bytes = stored_bytes - (170 + 2 * coalesce(octet_length(old.name), 0) + coalesce(octet_length(old.data), 0)) WHERE project_seq = old.project_seq;
END;--> statement-breakpoint
CREATE TRIGGER `usage_of_idempotency_keys_body` AFTER UPDATE OF body ON idempotency_keys WHEN coalesce(octet_length(new.body), 0) <> coalesce(octet_length(old.body), 0) BEGIN
	UPDATE project_usage SET stored_bytes = stored_bytes + coalesce(octet_length(new.body), 0) - coalesce(octet_length(old.body), 0) WHERE project_seq = new.project_seq;
END;--> statement-breakpoint
CREATE TRIGGER `usage_of_idempotency_keys_in` AFTER INSERT ON idempotency_keys BEGIN
	UPDATE project_usage SET stored_bytes = stored_bytes + (260 + coalesce(octet_length(new.body), 0)) WHERE project_seq = new.project_seq;
END;--> statement-breakpoint
CREATE TRIGGER `usage_of_idempotency_keys_out` AFTER DELETE ON idempotency_keys BEGIN
	UPDATE project_usage SET stored_bytes = stored_bytes - (260 + coalesce(octet_length(old.body), 0)) WHERE project_seq = old.project_seq;
END;--> statement-breakpoint
CREATE TRIGGER `usage_of_jobs_errors` AFTER UPDATE OF errors ON jobs WHEN coalesce(octet_length(new.errors), 0) <> coalesce(octet_length(old.errors), 0) BEGIN
	UPDATE project_usage SET stored_bytes = stored_bytes + coalesce(octet_length(new.errors), 0) - coalesce(octet_length(old.errors), 0) WHERE project_seq = new.project_seq;
END;--> statement-breakpoint
CREATE TRIGGER `usage_of_jobs_file_bytes` AFTER UPDATE OF file_bytes ON jobs WHEN new.file_bytes <> old.file_bytes BEGIN
	UPDATE project_usage SET stored_bytes = stored_bytes + new.file_bytes - old.file_bytes WHERE project_seq = new.project_seq;
END;--> statement-breakpoint
CREATE TRIGGER `usage_of_jobs_in` AFTER INSERT ON jobs BEGIN
	UPDATE project_usage SET stored_bytes = stored_bytes + (200 + coalesce(octet_length(new.input), 0) + coalesce(octet_length(new.errors), 0) + new.file_bytes) WHERE project_seq = new.project_seq;
END;--> statement-breakpoint
CREATE TRIGGER `usage_of_jobs_input` AFTER UPDATE OF input ON jobs WHEN coalesce(octet_length(new.input), 0) <> coalesce(octet_length(old.input), 0) BEGIN
	UPDATE project_usage SET stored_bytes = stored_bytes + coalesce(octet_length(new.input), 0) - coalesce(octet_length(old.input), 0) WHERE project_seq = new.project_seq;
END;--> statement-breakpoint
CREATE TRIGGER `usage_of_jobs_out` AFTER DELETE ON jobs BEGIN
	UPDATE project_usage SET stored_bytes = stored_bytes - (200 + coalesce(octet_length(old.input), 0) + coalesce(octet_length(old.errors), 0) + old.file_bytes) WHERE project_seq = old.project_seq;
END;--> statement-breakpoint
CREATE TRIGGER `usage_of_message_attachments_cascade` BEFORE DELETE ON messages BEGIN
	UPDATE project_usage SET stored_bytes = stored_bytes - (SELECT coalesce(sum(200 + coalesce(octet_length(r.filename), 0)), 0) FROM message_attachments r WHERE r.message_seq = old.seq) WHERE project_seq = old.project_seq;
END;--> statement-breakpoint
CREATE TRIGGER `usage_of_message_attachments_filename` AFTER UPDATE OF filename ON message_attachments WHEN coalesce(octet_length(new.filename), 0) <> coalesce(octet_length(old.filename), 0) BEGIN
	UPDATE project_usage SET stored_bytes = stored_bytes + coalesce(octet_length(new.filename), 0) - coalesce(octet_length(old.filename), 0) WHERE project_seq = (SELECT project_seq FROM messages WHERE seq = new.message_seq);
END;--> statement-breakpoint
CREATE TRIGGER `usage_of_message_attachments_in` AFTER INSERT ON message_attachments BEGIN
	UPDATE project_usage SET stored_bytes = stored_bytes + (200 + coalesce(octet_length(new.filename), 0)) WHERE project_seq = (SELECT project_seq FROM messages WHERE seq = new.message_seq);
END;--> statement-breakpoint
CREATE TRIGGER `usage_of_message_attachments_out` AFTER DELETE ON message_attachments BEGIN
	UPDATE project_usage SET stored_bytes = stored_bytes - (200 + coalesce(octet_length(old.filename), 0)) WHERE project_seq = (SELECT project_seq FROM messages WHERE seq = old.message_seq);
END;--> statement-breakpoint
CREATE TRIGGER `usage_of_messages_headers` AFTER UPDATE OF headers ON messages WHEN coalesce(octet_length(new.headers), 0) <> coalesce(octet_length(old.headers), 0) BEGIN
	UPDATE project_usage SET stored_bytes = stored_bytes + coalesce(octet_length(new.headers), 0) - coalesce(octet_length(old.headers), 0) WHERE project_seq = new.project_seq;
END;--> statement-breakpoint
CREATE TRIGGER `usage_of_messages_html` AFTER UPDATE OF html ON messages WHEN coalesce(octet_length(new.html), 0) <> coalesce(octet_length(old.html), 0) BEGIN
	UPDATE project_usage SET stored_bytes = stored_bytes + coalesce(octet_length(new.html), 0) - coalesce(octet_length(old.html), 0) WHERE project_seq = new.project_seq;
END;--> statement-breakpoint
CREATE TRIGGER `usage_of_messages_in` AFTER INSERT ON messages BEGIN
	UPDATE project_usage SET stored_bytes = stored_bytes + (200 + coalesce(octet_length(new.html), 0) + coalesce(octet_length(new.headers), 0)) WHERE project_seq = new.project_seq;
END;--> statement-breakpoint
CREATE TRIGGER `usage_of_messages_out` AFTER DELETE ON messages BEGIN
	UPDATE project_usage SET stored_bytes = stored_bytes - (200 + coalesce(octet_length(old.html), 0) + coalesce(octet_length(old.headers), 0)) WHERE project_seq = old.project_seq;
END;--> statement-breakpoint
CREATE TRIGGER `usage_of_projects` AFTER INSERT ON projects BEGIN
	INSERT INTO project_usage (project_seq) VALUES (new.seq);
END;--> statement-breakpoint
CREATE TRIGGER `usage_of_segment_members_cascade` BEFORE DELETE ON segments BEGIN
	UPDATE project_usage SET stored_bytes = stored_bytes - (SELECT coalesce(sum(30), 0) FROM segment_members r WHERE r.segment_seq = old.seq) WHERE project_seq = old.project_seq;
END;--> statement-breakpoint
CREATE TRIGGER `usage_of_segment_members_in` AFTER INSERT ON segment_members BEGIN
	UPDATE project_usage SET stored_bytes = stored_bytes + (30) WHERE project_seq = (SELECT project_seq FROM segments WHERE seq = new.segment_seq);
END;--> statement-breakpoint
CREATE TRIGGER `usage_of_segment_members_out` AFTER DELETE ON segment_members BEGIN
	UPDATE project_usage SET stored_bytes = stored_bytes - (30) WHERE project_seq = (SELECT project_seq FROM segments WHERE seq = old.segment_seq);
END;--> statement-breakpoint
CREATE TRIGGER `usage_of_segments_condition` AFTER UPDATE OF condition ON segments WHEN coalesce(octet_length(new.condition), 0) <> coalesce(octet_length(old.condition), 0) BEGIN
	UPDATE project_usage SET stored_bytes = stored_bytes + coalesce(octet_length(new.condition), 0) - coalesce(octet_length(old.condition), 0) WHERE project_seq = new.project_seq;
END;--> statement-breakpoint
CREATE TRIGGER `usage_of_segments_in` AFTER INSERT ON segments BEGIN
	UPDATE project_usage SET stored_bytes = stored_bytes + (300 + coalesce(octet_length(new.condition), 0)) WHERE project_seq = new.project_seq;
END;--> statement-breakpoint
CREATE TRIGGER `usage_of_segments_out` AFTER DELETE ON segments BEGIN
	UPDATE project_usage SET stored_bytes = stored_bytes - (300 + coalesce(octet_length(old.condition), 0)) WHERE project_seq = old.project_seq;
END;--> statement-breakpoint
CREATE TRIGGER `usage_of_suppressions_email` AFTER UPDATE OF email ON suppressions WHEN 2 * coalesce(octet_length(new.email), 0) <> 2 * coalesce(octet_length(old.email), 0) BEGIN
	UPDATE project_usage SET stored_bytes = stored_bytes + 2 * coalesce(octet_length(new.email), 0) - 2 * coalesce(octet_length(old.email), 0) WHERE project_seq = new.project_seq;
END;--> statement-breakpoint
CREATE TRIGGER `usage_of_suppressions_in` AFTER INSERT ON suppressions BEGIN
	UPDATE project_usage SET stored_bytes = stored_bytes + (60 + 2 * coalesce(octet_length(new.email), 0)) WHERE project_seq = new.project_seq;
END;--> statement-breakpoint
CREATE TRIGGER `usage_of_suppressions_out` AFTER DELETE ON suppressions BEGIN
	UPDATE project_usage SET stored_bytes = stored_bytes - (60 + 2 * coalesce(octet_length(old.email), 0)) WHERE project_seq = old.project_seq;
END;--> statement-breakpoint
CREATE TRIGGER `usage_of_templates_body` AFTER UPDATE OF body ON templates WHEN coalesce(octet_length(new.body), 0) <> coalesce(octet_length(old.body), 0) BEGIN
	UPDATE project_usage SET stored_bytes = stored_bytes + coalesce(octet_length(new.body), 0) - coalesce(octet_length(old.body), 0) WHERE project_seq = new.project_seq;
END;--> statement-breakpoint
CREATE TRIGGER `usage_of_templates_in` AFTER INSERT ON templates BEGIN
	UPDATE project_usage SET stored_bytes = stored_bytes + (200 + coalesce(octet_length(new.subject), 0) + coalesce(octet_length(new.body), 0)) WHERE project_seq = new.project_seq;
END;--> statement-breakpoint
CREATE TRIGGER `usage_of_templates_out` AFTER DELETE ON templates BEGIN
	UPDATE project_usage SET stored_bytes = stored_bytes - (200 + coalesce(octet_length(old.subject), 0) + coalesce(octet_length(old.body), 0)) WHERE project_seq = old.project_seq;
END;--> statement-breakpoint
CREATE TRIGGER `usage_of_templates_subject` AFTER UPDATE OF subject ON templates WHEN coalesce(octet_length(new.subject), 0) <> coalesce(octet_length(old.subject), 0) BEGIN
	UPDATE project_usage SET stored_bytes = stored_bytes + coalesce(octet_length(new.subject), 0) - coalesce(octet_length(old.subject), 0) WHERE project_seq = new.project_seq;
END;--> statement-breakpoint
CREATE TRIGGER `usage_of_webhook_deliveries_cascade` BEFORE DELETE ON webhooks BEGIN
	UPDATE project_usage SET stored_bytes = stored_bytes - (SELECT coalesce(sum(400), 0) FROM webhook_deliveries r WHERE r.webhook_seq = old.seq) WHERE project_seq = old.project_seq;
END;--> statement-breakpoint
CREATE TRIGGER `usage_of_webhook_deliveries_in` AFTER INSERT ON webhook_deliveries BEGIN
	UPDATE project_usage SET stored_bytes = stored_bytes + (400) WHERE project_seq = (SELECT project_seq FROM webhooks WHERE seq = new.webhook_seq);
END;--> statement-breakpoint
CREATE TRIGGER `usage_of_webhook_deliveries_out` AFTER DELETE ON webhook_deliveries BEGIN
	UPDATE project_usage SET stored_bytes = stored_bytes - (400) WHERE project_seq = (SELECT project_seq FROM webhooks WHERE seq = old.webhook_seq);
END;--> statement-breakpoint
CREATE TRIGGER `usage_of_webhooks_events` AFTER UPDATE OF events ON webhooks WHEN coalesce(octet_length(new.events), 0) <> coalesce(octet_length(old.events), 0) BEGIN
	UPDATE project_usage SET stored_bytes = stored_bytes + coalesce(octet_length(new.events), 0) - coalesce(octet_length(old.events), 0) WHERE project_seq = new.project_seq;
END;--> statement-breakpoint
CREATE TRIGGER `usage_of_webhooks_in` AFTER INSERT ON webhooks BEGIN
	UPDATE project_usage SET stored_bytes = stored_bytes + (600 + coalesce(octet_length(new.url), 0) + coalesce(octet_length(new.events), 0)) WHERE project_seq = new.project_seq;
END;--> statement-breakpoint
CREATE TRIGGER `usage_of_webhooks_out` AFTER DELETE ON webhooks BEGIN
	UPDATE project_usage SET stored_bytes = stored_bytes - (600 + coalesce(octet_length(old.url), 0) + coalesce(octet_length(old.events), 0)) WHERE project_seq = old.project_seq;
END;--> statement-breakpoint
CREATE TRIGGER `usage_of_webhooks_url` AFTER UPDATE OF url ON webhooks WHEN coalesce(octet_length(new.url), 0) <> coalesce(octet_length(old.url), 0) BEGIN
	UPDATE project_usage SET stored_bytes = stored_bytes + coalesce(octet_length(new.url), 0) - coalesce(octet_length(old.url), 0) WHERE project_seq = new.project_seq;
END;--> statement-breakpoint
CREATE TRIGGER `usage_of_workflow_execution_steps_cascade` BEFORE DELETE ON workflow_executions BEGIN
	UPDATE project_usage SET stored_bytes = stored_bytes - (SELECT coalesce(sum(90 + coalesce(octet_length(r.detail), 0)), 0) FROM workflow_execution_steps r WHERE r.execution_seq = old.seq) WHERE project_seq = old.project_seq;
END;--> statement-breakpoint
CREATE TRIGGER `usage_of_workflow_execution_steps_detail` AFTER UPDATE OF detail ON workflow_execution_steps WHEN coalesce(octet_length(new.detail), 0) <> coalesce(octet_length(old.detail), 0) BEGIN
	UPDATE project_usage SET stored_bytes = stored_bytes + coalesce(octet_length(new.detail), 0) - coalesce(octet_length(old.detail), 0) WHERE project_seq = (SELECT project_seq FROM workflow_executions WHERE seq = new.execution_seq);
END;--> statement-breakpoint
CREATE TRIGGER `usage_of_workflow_execution_steps_in` AFTER INSERT ON workflow_execution_steps BEGIN
	UPDATE project_usage SET stored_bytes = stored_bytes + (90 + coalesce(octet_length(new.detail), 0)) WHERE project_seq = (SELECT project_seq FROM workflow_executions WHERE seq = new.execution_seq);
END;--> statement-breakpoint
CREATE TRIGGER `usage_of_workflow_execution_steps_out` AFTER DELETE ON workflow_execution_steps BEGIN
	UPDATE project_usage SET stored_bytes = stored_bytes - (90 + coalesce(octet_length(old.detail), 0)) WHERE project_seq = (SELECT project_seq FROM workflow_executions WHERE seq = old.execution_seq);
END;--> statement-breakpoint
CREATE TRIGGER `usage_of_workflow_executions_context` AFTER UPDATE OF context ON workflow_executions WHEN coalesce(octet_length(new.context), 0) <> coalesce(octet_length(old.context), 0) BEGIN
	UPDATE project_usage SET stored_bytes = stored_bytes + coalesce(octet_length(new.context), 0) - coalesce(octet_length(old.context), 0) WHERE project_seq = new.project_seq;
END;--> statement-breakpoint
CREATE TRIGGER `usage_of_workflow_executions_in` AFTER INSERT ON workflow_executions BEGIN
	UPDATE project_usage SET stored_bytes = stored_bytes + (250 + coalesce(octet_length(new.context), 0)) WHERE project_seq = new.project_seq;
END;--> statement-breakpoint
CREATE TRIGGER `usage_of_workflow_executions_out` AFTER DELETE ON workflow_executions BEGIN
	UPDATE project_usage SET stored_bytes = stored_bytes - (250 + coalesce(octet_length(old.context), 0)) WHERE project_seq = old.project_seq;
END;--> statement-breakpoint
CREATE TRIGGER `usage_of_workflow_versions_cascade` BEFORE DELETE ON workflows BEGIN
	UPDATE project_usage SET stored_bytes = stored_bytes - (SELECT coalesce(sum(100 + coalesce(octet_length(r.graph), 0)), 0) FROM workflow_versions r WHERE r.workflow_seq = old.seq) WHERE project_seq = old.project_seq;
END;--> statement-breakpoint
CREATE TRIGGER `usage_of_workflow_versions_graph` AFTER UPDATE OF graph ON workflow_versions WHEN coalesce(octet_length(new.graph), 0) <> coalesce(octet_length(old.graph), 0) BEGIN
	UPDATE project_usage SET stored_bytes = stored_bytes + coalesce(octet_length(new.graph), 0) - coalesce(octet_length(old.graph), 0) WHERE project_seq = (SELECT project_seq FROM workflows WHERE seq = new.workflow_seq);
END;--> statement-breakpoint
CREATE TRIGGER `usage_of_workflow_versions_in` AFTER INSERT ON workflow_versions BEGIN
	UPDATE project_usage SET stored_bytes = stored_bytes + (100 + coalesce(octet_length(new.graph), 0)) WHERE project_seq = (SELECT project_seq FROM workflows WHERE seq = new.workflow_seq);
END;--> statement-breakpoint
CREATE TRIGGER `usage_of_workflow_versions_out` AFTER DELETE ON workflow_versions BEGIN
	UPDATE project_usage SET stored_bytes = stored_bytes - (100 + coalesce(octet_length(old.graph), 0)) WHERE project_seq = (SELECT project_seq FROM workflows WHERE seq = old.workflow_seq);
END;--> statement-breakpoint
CREATE TRIGGER `usage_of_workflows_in` AFTER INSERT ON workflows BEGIN
	UPDATE project_usage SET stored_bytes = stored_bytes + (600) WHERE project_seq = new.project_seq;
END;--> statement-breakpoint
CREATE TRIGGER `usage_of_workflows_out` AFTER DELETE ON workflows BEGIN
	UPDATE project_usage SET stored_bytes = stored_bytes - (600) WHERE project_seq = old.project_seq;
END;

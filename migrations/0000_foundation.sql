CREATE TABLE `campaign_counts` (
	`campaign_seq` integer PRIMARY KEY NOT NULL,
	`total_recipients` integer DEFAULT 0 NOT NULL,
	`sent` integer DEFAULT 0 NOT NULL,
	`delivered` integer DEFAULT 0 NOT NULL,
	`opened` integer DEFAULT 0 NOT NULL,
	`clicked` integer DEFAULT 0 NOT NULL,
	`machine_opens` integer DEFAULT 0 NOT NULL,
	`machine_clicks` integer DEFAULT 0 NOT NULL,
	`bounced` integer DEFAULT 0 NOT NULL,
	`complained` integer DEFAULT 0 NOT NULL,
	`unsubscribed` integer DEFAULT 0 NOT NULL,
	`failed` integer DEFAULT 0 NOT NULL,
	`suppressed` integer DEFAULT 0 NOT NULL,
	`cancelled` integer DEFAULT 0 NOT NULL,
	`forgiven_mails` integer DEFAULT 0 NOT NULL,
	`forgiven_bounces` integer DEFAULT 0 NOT NULL,
	`forgiven_complaints` integer DEFAULT 0 NOT NULL,
	FOREIGN KEY (`campaign_seq`) REFERENCES `campaigns`(`seq`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE TABLE `campaign_hours` (
	`campaign_seq` integer NOT NULL,
	`hour` integer NOT NULL,
	`opens` integer NOT NULL,
	`clicks` integer NOT NULL,
	PRIMARY KEY(`campaign_seq`, `hour`),
	FOREIGN KEY (`campaign_seq`) REFERENCES `campaigns`(`seq`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE TABLE `campaign_links` (
	`campaign_seq` integer NOT NULL,
	`url` text NOT NULL,
	`clicks` integer NOT NULL,
	`unique_clicks` integer NOT NULL,
	PRIMARY KEY(`campaign_seq`, `url`),
	FOREIGN KEY (`campaign_seq`) REFERENCES `campaigns`(`seq`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE TABLE `campaigns` (
	`seq` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`id` text NOT NULL,
	`project_seq` integer NOT NULL,
	`name` text NOT NULL,
	`description` text,
	`subject` text NOT NULL,
	`body` text NOT NULL,
	`from_address` text NOT NULL,
	`from_name` text,
	`reply_to` text,
	`audience_type` text NOT NULL,
	`segment_seq` integer,
	`audience_filter` text,
	`rate` real,
	`status` text NOT NULL,
	`status_reason` text,
	`scheduled_at` integer,
	`started_at` integer,
	`finished_at` integer,
	`audience_cursor` integer,
	`audience_end` integer,
	`audience_condition` text,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	FOREIGN KEY (`project_seq`) REFERENCES `projects`(`seq`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`segment_seq`) REFERENCES `segments`(`seq`) ON UPDATE no action ON DELETE set null
);
--> statement-breakpoint
CREATE UNIQUE INDEX `campaigns_id_unique` ON `campaigns` (`id`);--> statement-breakpoint
CREATE INDEX `campaigns_page` ON `campaigns` (`project_seq`,`seq`);--> statement-breakpoint
CREATE INDEX `campaigns_due` ON `campaigns` (`scheduled_at`) WHERE status = 'SCHEDULED';--> statement-breakpoint
CREATE INDEX `campaigns_active` ON `campaigns` (`status`) WHERE status IN ('SENDING', 'PAUSED');--> statement-breakpoint
CREATE INDEX `campaigns_segment` ON `campaigns` (`segment_seq`) WHERE segment_seq IS NOT NULL;--> statement-breakpoint
CREATE TABLE `contact_blocks` (
	`project_seq` integer NOT NULL,
	`block` integer NOT NULL,
	`version` integer NOT NULL,
	PRIMARY KEY(`project_seq`, `block`),
	FOREIGN KEY (`project_seq`) REFERENCES `projects`(`seq`) ON UPDATE no action ON DELETE no action
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `contact_counts` (
	`project_seq` integer PRIMARY KEY NOT NULL,
	`total` integer NOT NULL,
	`subscribed` integer NOT NULL,
	FOREIGN KEY (`project_seq`) REFERENCES `projects`(`seq`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE TABLE `contacts` (
	`seq` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`id` text NOT NULL,
	`project_seq` integer NOT NULL,
	`email` text NOT NULL,
	`is_subscribed` integer NOT NULL,
	`data` text NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	FOREIGN KEY (`project_seq`) REFERENCES `projects`(`seq`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE UNIQUE INDEX `contacts_id_unique` ON `contacts` (`id`);--> statement-breakpoint
CREATE UNIQUE INDEX `contacts_email` ON `contacts` (`project_seq`,`email`);--> statement-breakpoint
CREATE INDEX `contacts_page` ON `contacts` (`project_seq`,`seq`);--> statement-breakpoint
CREATE INDEX `contacts_subscribed_page` ON `contacts` (`project_seq`,`is_subscribed`,`seq`);--> statement-breakpoint
CREATE INDEX `contacts_touched` ON `contacts` (`project_seq`,`updated_at`);--> statement-breakpoint
CREATE TABLE `suppressions` (
	`seq` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`project_seq` integer NOT NULL,
	`email` text NOT NULL,
	`reason` text NOT NULL,
	`created_at` integer NOT NULL,
	FOREIGN KEY (`project_seq`) REFERENCES `projects`(`seq`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE UNIQUE INDEX `suppressions_email` ON `suppressions` (`project_seq`,`email`);--> statement-breakpoint
CREATE INDEX `suppressions_page` ON `suppressions` (`project_seq`,`seq`);--> statement-breakpoint
CREATE TABLE `dkim_keys` (
	`seq` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`domain_seq` integer NOT NULL,
	`algorithm` text NOT NULL,
	`selector` text NOT NULL,
	`private_key` blob NOT NULL,
	`public_key` text NOT NULL,
	`created_at` integer NOT NULL,
	FOREIGN KEY (`domain_seq`) REFERENCES `domains`(`seq`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE UNIQUE INDEX `dkim_keys_selector` ON `dkim_keys` (`domain_seq`,`selector`);--> statement-breakpoint
CREATE TABLE `domains` (
	`seq` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`id` text NOT NULL,
	`project_seq` integer NOT NULL,
	`domain` text NOT NULL,
	`status` text NOT NULL,
	`is_by_word` integer DEFAULT false NOT NULL,
	`findings` text DEFAULT '[]' NOT NULL,
	`has_return_path` integer DEFAULT false NOT NULL,
	`verified_at` integer,
	`last_checked_at` integer,
	`failing_since` integer,
	`misses` integer DEFAULT 0 NOT NULL,
	`next_check_at` integer NOT NULL,
	`created_at` integer NOT NULL,
	FOREIGN KEY (`project_seq`) REFERENCES `projects`(`seq`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE UNIQUE INDEX `domains_id_unique` ON `domains` (`id`);--> statement-breakpoint
CREATE UNIQUE INDEX `domains_domain_unique` ON `domains` (`domain`);--> statement-breakpoint
CREATE INDEX `domains_page` ON `domains` (`project_seq`,`seq`);--> statement-breakpoint
CREATE INDEX `domains_due` ON `domains` (`next_check_at`);--> statement-breakpoint
CREATE TABLE `attachment_contents` (
	`digest` text PRIMARY KEY NOT NULL,
	`bytes` blob NOT NULL
);
--> statement-breakpoint
CREATE TABLE `attempts` (
	`seq` integer PRIMARY KEY NOT NULL,
	`email_seq` integer NOT NULL,
	`number` integer NOT NULL,
	`started_at` integer NOT NULL,
	`duration_ms` integer NOT NULL,
	`outcome` text NOT NULL,
	`class` text NOT NULL,
	`reason` text,
	`conversations` text,
	FOREIGN KEY (`email_seq`) REFERENCES `emails`(`seq`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `attempts_email` ON `attempts` (`email_seq`);--> statement-breakpoint
CREATE TABLE `captured_messages` (
	`email_seq` integer PRIMARY KEY NOT NULL,
	`raw` blob NOT NULL,
	FOREIGN KEY (`email_seq`) REFERENCES `emails`(`seq`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE TABLE `emails` (
	`seq` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`id` text NOT NULL,
	`project_seq` integer NOT NULL,
	`contact_seq` integer,
	`message_seq` integer NOT NULL,
	`source` text NOT NULL,
	`template_id` text,
	`campaign_seq` integer,
	`execution_seq` integer,
	`to_address` text,
	`to_name` text,
	`subject` text NOT NULL,
	`variables` text,
	`status` text NOT NULL,
	`priority` integer NOT NULL,
	`attempts` integer DEFAULT 0 NOT NULL,
	`next_at` integer,
	`line` text DEFAULT '' NOT NULL,
	`created_at` integer NOT NULL,
	`sent_at` integer,
	`delivered_at` integer,
	`opened_at` integer,
	`clicked_at` integer,
	`bounced_at` integer,
	`complained_at` integer,
	`machine_opened_at` integer,
	`machine_clicked_at` integer,
	`last_error` text,
	FOREIGN KEY (`project_seq`) REFERENCES `projects`(`seq`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`contact_seq`) REFERENCES `contacts`(`seq`) ON UPDATE no action ON DELETE set null,
	FOREIGN KEY (`message_seq`) REFERENCES `messages`(`seq`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE UNIQUE INDEX `emails_id_unique` ON `emails` (`id`);--> statement-breakpoint
CREATE INDEX `emails_page` ON `emails` (`project_seq`,`seq`);--> statement-breakpoint
CREATE INDEX `emails_contact` ON `emails` (`contact_seq`);--> statement-breakpoint
CREATE INDEX `emails_message` ON `emails` (`message_seq`);--> statement-breakpoint
CREATE UNIQUE INDEX `emails_campaign_contact` ON `emails` (`campaign_seq`,`contact_seq`) WHERE campaign_seq IS NOT NULL;--> statement-breakpoint
CREATE INDEX `emails_campaign` ON `emails` (`campaign_seq`) WHERE campaign_seq IS NOT NULL;--> statement-breakpoint
CREATE INDEX `emails_campaign_queue` ON `emails` (`campaign_seq`,`status`,`line`,`next_at`) WHERE campaign_seq IS NOT NULL AND next_at IS NOT NULL;--> statement-breakpoint
CREATE INDEX `emails_queue` ON `emails` (`status`,`line`,`project_seq`,`next_at`) WHERE campaign_seq IS NULL AND next_at IS NOT NULL;--> statement-breakpoint
CREATE TABLE `message_attachments` (
	`message_seq` integer NOT NULL,
	`position` integer NOT NULL,
	`filename` text NOT NULL,
	`content_type` text NOT NULL,
	`content_id` text,
	`disposition` text NOT NULL,
	`content_digest` text NOT NULL,
	PRIMARY KEY(`message_seq`, `position`),
	FOREIGN KEY (`message_seq`) REFERENCES `messages`(`seq`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`content_digest`) REFERENCES `attachment_contents`(`digest`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE INDEX `message_attachments_content` ON `message_attachments` (`content_digest`);--> statement-breakpoint
CREATE TABLE `messages` (
	`seq` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`project_seq` integer NOT NULL,
	`digest` text NOT NULL,
	`from_address` text NOT NULL,
	`from_name` text,
	`reply_to` text,
	`html` text NOT NULL,
	`headers` text NOT NULL,
	`is_marketing` integer NOT NULL,
	`has_attachments` integer NOT NULL,
	`created_at` integer NOT NULL,
	FOREIGN KEY (`project_seq`) REFERENCES `projects`(`seq`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE UNIQUE INDEX `messages_digest` ON `messages` (`project_seq`,`digest`);--> statement-breakpoint
CREATE TABLE `contact_events` (
	`contact_seq` integer NOT NULL,
	`name_seq` integer NOT NULL,
	`last_at` integer NOT NULL,
	`last_seq` integer NOT NULL,
	`count` integer NOT NULL,
	PRIMARY KEY(`name_seq`, `contact_seq`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `event_names` (
	`seq` integer PRIMARY KEY NOT NULL,
	`project_seq` integer NOT NULL,
	`name` text NOT NULL,
	`count` integer NOT NULL,
	FOREIGN KEY (`project_seq`) REFERENCES `projects`(`seq`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE UNIQUE INDEX `event_names_name` ON `event_names` (`project_seq`,`name`);--> statement-breakpoint
CREATE INDEX `event_names_rank` ON `event_names` (`project_seq`,`count`,`seq`);--> statement-breakpoint
CREATE TABLE `events` (
	`seq` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`id` text NOT NULL,
	`project_seq` integer NOT NULL,
	`name` text NOT NULL,
	`contact_seq` integer,
	`previous_seq` integer,
	`email_seq` integer,
	`data` text,
	`created_at` integer NOT NULL,
	FOREIGN KEY (`project_seq`) REFERENCES `projects`(`seq`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`email_seq`) REFERENCES `emails`(`seq`) ON UPDATE no action ON DELETE set null
);
--> statement-breakpoint
CREATE INDEX `events_page` ON `events` (`project_seq`,`created_at`,`seq`);--> statement-breakpoint
CREATE INDEX `events_name` ON `events` (`project_seq`,`name`,`created_at`,`seq`);--> statement-breakpoint
CREATE INDEX `events_email` ON `events` (`email_seq`) WHERE email_seq IS NOT NULL;--> statement-breakpoint
CREATE TABLE `jobs` (
	`seq` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`id` text NOT NULL,
	`project_seq` integer NOT NULL,
	`kind` text NOT NULL,
	`status` text NOT NULL,
	`input` text NOT NULL,
	`cursor` integer DEFAULT 0 NOT NULL,
	`processed` integer DEFAULT 0 NOT NULL,
	`total` integer,
	`created` integer DEFAULT 0 NOT NULL,
	`updated` integer DEFAULT 0 NOT NULL,
	`failed` integer DEFAULT 0 NOT NULL,
	`errors` text DEFAULT '[]' NOT NULL,
	`created_at` integer NOT NULL,
	`finished_at` integer,
	FOREIGN KEY (`project_seq`) REFERENCES `projects`(`seq`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE UNIQUE INDEX `jobs_id_unique` ON `jobs` (`id`);--> statement-breakpoint
CREATE INDEX `jobs_status` ON `jobs` (`status`,`seq`);--> statement-breakpoint
CREATE TABLE `mta_sts_policies` (
	`domain` text PRIMARY KEY NOT NULL,
	`record_id` text NOT NULL,
	`policy` text NOT NULL,
	`fetched_at` integer NOT NULL,
	`ends_at` integer NOT NULL
) WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `mta_sts_policies_end` ON `mta_sts_policies` (`ends_at`);--> statement-breakpoint
CREATE TABLE `api_keys` (
	`seq` integer PRIMARY KEY NOT NULL,
	`id` text NOT NULL,
	`project_seq` integer NOT NULL,
	`kind` text NOT NULL,
	`name` text NOT NULL,
	`digest` text NOT NULL,
	`last4` text NOT NULL,
	`created_at` integer NOT NULL,
	`last_used_at` integer,
	`expires_at` integer,
	`revoked_at` integer,
	FOREIGN KEY (`project_seq`) REFERENCES `projects`(`seq`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE UNIQUE INDEX `api_keys_id_unique` ON `api_keys` (`id`);--> statement-breakpoint
CREATE UNIQUE INDEX `api_keys_digest_unique` ON `api_keys` (`digest`);--> statement-breakpoint
CREATE TABLE `idempotency_keys` (
	`scope` text PRIMARY KEY NOT NULL,
	`request_digest` text NOT NULL,
	`status` integer NOT NULL,
	`body` text NOT NULL,
	`created_at` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `idempotency_keys_age` ON `idempotency_keys` (`created_at`);--> statement-breakpoint
CREATE TABLE `projects` (
	`seq` integer PRIMARY KEY NOT NULL,
	`id` text NOT NULL,
	`name` text NOT NULL,
	`is_enabled` integer DEFAULT true NOT NULL,
	`tracking` text DEFAULT 'MARKETING_ONLY' NOT NULL,
	`language` text DEFAULT 'en' NOT NULL,
	`created_at` integer NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `projects_id_unique` ON `projects` (`id`);--> statement-breakpoint
CREATE UNIQUE INDEX `projects_name_unique` ON `projects` (`name`);--> statement-breakpoint
CREATE TABLE `readers` (
	`name` text PRIMARY KEY NOT NULL,
	`seq` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `readiness` (
	`id` integer PRIMARY KEY NOT NULL,
	`at` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `purge_marks` (
	`name` text PRIMARY KEY NOT NULL,
	`seq` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `segment_members` (
	`segment_seq` integer NOT NULL,
	`contact_seq` integer NOT NULL,
	PRIMARY KEY(`segment_seq`, `contact_seq`),
	FOREIGN KEY (`segment_seq`) REFERENCES `segments`(`seq`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`contact_seq`) REFERENCES `contacts`(`seq`) ON UPDATE no action ON DELETE cascade
) WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `segment_members_contact` ON `segment_members` (`contact_seq`);--> statement-breakpoint
CREATE TABLE `segments` (
	`seq` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`id` text NOT NULL,
	`project_seq` integer NOT NULL,
	`name` text NOT NULL,
	`slug` text NOT NULL,
	`description` text,
	`type` text NOT NULL,
	`condition` text,
	`track_membership` integer NOT NULL,
	`baseline_at` integer,
	`deleted_at` integer,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	FOREIGN KEY (`project_seq`) REFERENCES `projects`(`seq`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE UNIQUE INDEX `segments_id_unique` ON `segments` (`id`);--> statement-breakpoint
CREATE INDEX `segments_page` ON `segments` (`project_seq`,`seq`);--> statement-breakpoint
CREATE UNIQUE INDEX `segments_slug` ON `segments` (`project_seq`,`slug`);--> statement-breakpoint
CREATE TABLE `templates` (
	`seq` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`id` text NOT NULL,
	`project_seq` integer NOT NULL,
	`name` text NOT NULL,
	`description` text,
	`subject` text NOT NULL,
	`body` text NOT NULL,
	`from_address` text,
	`from_name` text,
	`reply_to` text,
	`type` text NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	FOREIGN KEY (`project_seq`) REFERENCES `projects`(`seq`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE UNIQUE INDEX `templates_id_unique` ON `templates` (`id`);--> statement-breakpoint
CREATE INDEX `templates_page` ON `templates` (`project_seq`,`seq`);--> statement-breakpoint
-- By hand from here: drizzle-kit knows neither WITHOUT ROWID (above) nor triggers.
CREATE TRIGGER `projects_counted` AFTER INSERT ON `projects` BEGIN
	INSERT INTO `contact_counts` (`project_seq`, `total`, `subscribed`) VALUES (new.`seq`, 0, 0);
END;--> statement-breakpoint
CREATE TRIGGER `contacts_counted_in` AFTER INSERT ON `contacts` BEGIN
	UPDATE `contact_counts` SET `total` = `total` + 1, `subscribed` = `subscribed` + new.`is_subscribed` WHERE `project_seq` = new.`project_seq`;
END;--> statement-breakpoint
CREATE TRIGGER `contacts_counted_out` AFTER DELETE ON `contacts` BEGIN
	UPDATE `contact_counts` SET `total` = `total` - 1, `subscribed` = `subscribed` - old.`is_subscribed` WHERE `project_seq` = old.`project_seq`;
END;--> statement-breakpoint
CREATE TRIGGER `contacts_forgotten` AFTER DELETE ON `contacts` BEGIN
	DELETE FROM `contact_events` WHERE `contact_seq` = old.`seq`
		AND `name_seq` IN (SELECT `seq` FROM `event_names` WHERE `project_seq` = old.`project_seq`);
END;--> statement-breakpoint
CREATE TRIGGER `contacts_counted_anew` AFTER UPDATE OF `is_subscribed` ON `contacts` WHEN new.`is_subscribed` <> old.`is_subscribed` BEGIN
	UPDATE `contact_counts` SET `subscribed` = `subscribed` + new.`is_subscribed` - old.`is_subscribed` WHERE `project_seq` = new.`project_seq`;
END;--> statement-breakpoint
CREATE TRIGGER `contacts_moved_in` AFTER INSERT ON `contacts` BEGIN
	INSERT INTO `contact_blocks` (`project_seq`, `block`, `version`) VALUES (new.`project_seq`, new.`seq` / 1024, 1)
		ON CONFLICT DO UPDATE SET `version` = `version` + 1;
END;--> statement-breakpoint
CREATE TRIGGER `contacts_moved_out` AFTER DELETE ON `contacts` BEGIN
	UPDATE `contact_blocks` SET `version` = `version` + 1 WHERE `project_seq` = old.`project_seq` AND `block` = old.`seq` / 1024;
END;--> statement-breakpoint
CREATE TRIGGER `contacts_moved` AFTER UPDATE OF `email`, `is_subscribed` ON `contacts` WHEN new.`email` <> old.`email` OR new.`is_subscribed` <> old.`is_subscribed` BEGIN
	UPDATE `contact_blocks` SET `version` = `version` + 1 WHERE `project_seq` = new.`project_seq` AND `block` = new.`seq` / 1024;
END;--> statement-breakpoint
CREATE TABLE `webhook_deliveries` (
	`seq` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`id` text NOT NULL,
	`webhook_seq` integer NOT NULL,
	`event_seq` integer NOT NULL,
	`contact_seq` integer,
	`status` text NOT NULL,
	`attempts` integer DEFAULT 0 NOT NULL,
	`next_at` integer,
	`is_holding` integer NOT NULL,
	`last_attempt_at` integer,
	`response_code` integer,
	`response_excerpt` text,
	`error` text,
	`created_at` integer NOT NULL,
	FOREIGN KEY (`webhook_seq`) REFERENCES `webhooks`(`seq`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`event_seq`) REFERENCES `events`(`seq`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE UNIQUE INDEX `webhook_deliveries_id_unique` ON `webhook_deliveries` (`id`);--> statement-breakpoint
CREATE UNIQUE INDEX `webhook_deliveries_event` ON `webhook_deliveries` (`event_seq`,`webhook_seq`);--> statement-breakpoint
CREATE INDEX `webhook_deliveries_page` ON `webhook_deliveries` (`webhook_seq`);--> statement-breakpoint
CREATE INDEX `webhook_deliveries_status` ON `webhook_deliveries` (`webhook_seq`,`status`);--> statement-breakpoint
CREATE INDEX `webhook_deliveries_due` ON `webhook_deliveries` (`webhook_seq`,`next_at`) WHERE next_at IS NOT NULL;--> statement-breakpoint
CREATE INDEX `webhook_deliveries_holding` ON `webhook_deliveries` (`webhook_seq`,`contact_seq`) WHERE is_holding = 1;--> statement-breakpoint
CREATE TABLE `webhooks` (
	`seq` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`id` text NOT NULL,
	`project_seq` integer NOT NULL,
	`url` text NOT NULL,
	`events` text NOT NULL,
	`description` text,
	`is_enabled` integer NOT NULL,
	`disabled_reason` text,
	`failing_since` integer,
	`secret` blob NOT NULL,
	`previous_secret` blob,
	`previous_until` integer,
	`start_seq` integer NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	`deleted_at` integer,
	FOREIGN KEY (`project_seq`) REFERENCES `projects`(`seq`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE UNIQUE INDEX `webhooks_id_unique` ON `webhooks` (`id`);--> statement-breakpoint
CREATE INDEX `webhooks_page` ON `webhooks` (`project_seq`,`seq`);--> statement-breakpoint
CREATE INDEX `webhooks_enabled` ON `webhooks` (`seq`) WHERE is_enabled = 1;--> statement-breakpoint
CREATE INDEX `webhooks_deleted` ON `webhooks` (`seq`) WHERE deleted_at IS NOT NULL;--> statement-breakpoint
CREATE TABLE `workflow_execution_steps` (
	`execution_seq` integer NOT NULL,
	`number` integer NOT NULL,
	`step_id` text NOT NULL,
	`type` text NOT NULL,
	`outcome` text NOT NULL,
	`branch` text,
	`detail` text,
	`started_at` integer NOT NULL,
	`completed_at` integer NOT NULL,
	PRIMARY KEY(`execution_seq`, `number`),
	FOREIGN KEY (`execution_seq`) REFERENCES `workflow_executions`(`seq`) ON UPDATE no action ON DELETE cascade
);--> statement-breakpoint
CREATE TABLE `workflow_executions` (
	`seq` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`id` text NOT NULL,
	`project_seq` integer NOT NULL,
	`workflow_seq` integer NOT NULL,
	`version_seq` integer NOT NULL,
	`contact_seq` integer,
	`status` text NOT NULL,
	`current_step_id` text,
	`context` text NOT NULL,
	`step_started_at` integer NOT NULL,
	`event_seq` integer,
	`step_count` integer DEFAULT 0 NOT NULL,
	`tries` integer DEFAULT 0 NOT NULL,
	`due_at` integer,
	`due_for` text,
	`awaited_event` text,
	`started_at` integer NOT NULL,
	`completed_at` integer,
	`exit_reason` text,
	`error` text,
	FOREIGN KEY (`project_seq`) REFERENCES `projects`(`seq`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`workflow_seq`) REFERENCES `workflows`(`seq`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`contact_seq`) REFERENCES `contacts`(`seq`) ON UPDATE no action ON DELETE set null
);--> statement-breakpoint
CREATE UNIQUE INDEX `workflow_executions_id_unique` ON `workflow_executions` (`id`);--> statement-breakpoint
CREATE INDEX `workflow_executions_page` ON `workflow_executions` (`workflow_seq`,`seq`);--> statement-breakpoint
CREATE INDEX `workflow_executions_status` ON `workflow_executions` (`workflow_seq`,`status`,`seq`);--> statement-breakpoint
CREATE INDEX `workflow_executions_contact` ON `workflow_executions` (`contact_seq`,`workflow_seq`);--> statement-breakpoint
CREATE INDEX `workflow_executions_version` ON `workflow_executions` (`version_seq`) WHERE status IN ('RUNNING', 'WAITING');--> statement-breakpoint
CREATE UNIQUE INDEX `workflow_executions_active` ON `workflow_executions` (`workflow_seq`,`contact_seq`) WHERE status IN ('RUNNING', 'WAITING');--> statement-breakpoint
CREATE INDEX `workflow_executions_due` ON `workflow_executions` (`due_for`,`due_at`) WHERE due_at IS NOT NULL;--> statement-breakpoint
CREATE INDEX `workflow_executions_calls` ON `workflow_executions` (`workflow_seq`,`due_at`) WHERE due_for = 'CALL';--> statement-breakpoint
CREATE INDEX `workflow_executions_awaiting` ON `workflow_executions` (`contact_seq`,`awaited_event`) WHERE awaited_event IS NOT NULL;--> statement-breakpoint
CREATE TABLE `workflow_versions` (
	`seq` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`workflow_seq` integer NOT NULL,
	`graph` text NOT NULL,
	`created_at` integer NOT NULL,
	FOREIGN KEY (`workflow_seq`) REFERENCES `workflows`(`seq`) ON UPDATE no action ON DELETE cascade
);--> statement-breakpoint
CREATE INDEX `workflow_versions_workflow` ON `workflow_versions` (`workflow_seq`);--> statement-breakpoint
CREATE TABLE `workflows` (
	`seq` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`id` text NOT NULL,
	`project_seq` integer NOT NULL,
	`name` text NOT NULL,
	`description` text,
	`is_enabled` integer NOT NULL,
	`allow_reentry` integer NOT NULL,
	`trigger_event` text NOT NULL,
	`version_seq` integer NOT NULL,
	`deleted_at` integer,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	FOREIGN KEY (`project_seq`) REFERENCES `projects`(`seq`) ON UPDATE no action ON DELETE no action
);--> statement-breakpoint
CREATE UNIQUE INDEX `workflows_id_unique` ON `workflows` (`id`);--> statement-breakpoint
CREATE INDEX `workflows_page` ON `workflows` (`project_seq`,`seq`);--> statement-breakpoint
CREATE INDEX `workflows_trigger` ON `workflows` (`project_seq`,`trigger_event`) WHERE is_enabled;

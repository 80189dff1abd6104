CREATE TABLE `workflow_step_counts` (
	`workflow_seq` integer NOT NULL,
	`step_id` text NOT NULL,
	`completed` integer DEFAULT 0 NOT NULL,
	`skipped` integer DEFAULT 0 NOT NULL,
	`failed` integer DEFAULT 0 NOT NULL,
	PRIMARY KEY(`workflow_seq`, `step_id`),
	FOREIGN KEY (`workflow_seq`) REFERENCES `workflows`(`seq`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
ALTER TABLE `campaign_hours` ADD `sent` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `webhook_deliveries` ADD `duration_ms` integer;--> statement-breakpoint
ALTER TABLE `webhook_deliveries` ADD `earlier_attempts` text;--> statement-breakpoint
CREATE INDEX `workflow_executions_step` ON `workflow_executions` (`workflow_seq`,`status`,`current_step_id`,`seq`);--> statement-breakpoint
-- The steps that executions have completed so far, as far as they were not purged.
INSERT INTO `workflow_step_counts` (`workflow_seq`, `step_id`, `completed`, `skipped`, `failed`)
SELECT `e`.`workflow_seq`, `s`.`step_id`, sum(`s`.`outcome` = 'COMPLETED'), sum(`s`.`outcome` = 'SKIPPED'),
	sum(`s`.`outcome` = 'FAILED')
FROM `workflow_execution_steps` `s` JOIN `workflow_executions` `e` ON `e`.`seq` = `s`.`execution_seq`
GROUP BY 1, 2;--> statement-breakpoint
-- The mails that campaigns have sent so far. Mails are stored longer than their campaigns.
INSERT INTO `campaign_hours` (`campaign_seq`, `hour`, `opens`, `clicks`, `sent`)
SELECT `campaign_seq`, `sent_at` - `sent_at` % 3600000, 0, 0, count(*)
FROM `emails`
WHERE `sent_at` IS NOT NULL AND `campaign_seq` IN (SELECT `seq` FROM `campaigns`)
GROUP BY 1, 2
ON CONFLICT (`campaign_seq`, `hour`) DO UPDATE SET `sent` = `excluded`.`sent`;

CREATE TABLE `project_hours` (
	`project_seq` integer NOT NULL,
	`hour` integer NOT NULL,
	`sent` integer DEFAULT 0 NOT NULL,
	`delivered` integer DEFAULT 0 NOT NULL,
	`opened` integer DEFAULT 0 NOT NULL,
	`clicked` integer DEFAULT 0 NOT NULL,
	`bounced` integer DEFAULT 0 NOT NULL,
	`bounced_later` integer DEFAULT 0 NOT NULL,
	`complained` integer DEFAULT 0 NOT NULL,
	`failed` integer DEFAULT 0 NOT NULL,
	`suppressed` integer DEFAULT 0 NOT NULL,
	`subscribed` integer DEFAULT 0 NOT NULL,
	`unsubscribed` integer DEFAULT 0 NOT NULL,
	PRIMARY KEY(`project_seq`, `hour`),
	FOREIGN KEY (`project_seq`) REFERENCES `projects`(`seq`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
-- The events so far. Each mail counts once as clicked, at its first click.
INSERT INTO `project_hours` (`project_seq`, `hour`, `sent`, `delivered`, `opened`, `bounced`, `complained`, `failed`, `suppressed`, `subscribed`, `unsubscribed`)
SELECT `project_seq`, `created_at` - `created_at` % 3600000, sum(`name` = 'email.sent'), sum(`name` = 'email.delivered'),
	sum(`name` = 'email.opened'), sum(`name` = 'email.bounced'), sum(`name` = 'email.complained'), sum(`name` = 'email.failed'),
	sum(`name` = 'email.suppressed'), sum(`name` = 'contact.subscribed'), sum(`name` = 'contact.unsubscribed')
FROM `events`
WHERE `name` IN ('email.sent', 'email.delivered', 'email.opened', 'email.clicked', 'email.bounced', 'email.complained',
	'email.failed', 'email.suppressed', 'contact.subscribed', 'contact.unsubscribed')
GROUP BY 1, 2;--> statement-breakpoint
UPDATE `project_hours` SET `clicked` = `first`.`clicks`
FROM (
	SELECT `project_seq` AS `project`, `at` - `at` % 3600000 AS `hour_of_click`, count(*) AS `clicks`
	FROM (SELECT `project_seq`, min(`created_at`) AS `at` FROM `events`
		WHERE `name` = 'email.clicked' AND `email_seq` IS NOT NULL GROUP BY `project_seq`, `email_seq`)
	GROUP BY 1, 2
) AS `first`
WHERE `project_hours`.`project_seq` = `first`.`project` AND `project_hours`.`hour` = `first`.`hour_of_click`;

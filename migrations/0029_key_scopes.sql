ALTER TABLE `api_keys` ADD `scope` text DEFAULT 'EVERYTHING' NOT NULL;--> statement-breakpoint
ALTER TABLE `api_keys` ADD `domains` text DEFAULT '' NOT NULL;--> statement-breakpoint
ALTER TABLE `api_keys` ADD `ranges` text DEFAULT '' NOT NULL;--> statement-breakpoint
ALTER TABLE `api_keys` ADD `uses` text DEFAULT '{}' NOT NULL;
ALTER TABLE `audit` ADD `object_name` text;--> statement-breakpoint
ALTER TABLE `audit` ADD `changes` text DEFAULT '[]' NOT NULL;
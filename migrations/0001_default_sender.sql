ALTER TABLE `projects` ADD `from_address` text;--> statement-breakpoint
ALTER TABLE `projects` ADD `from_name` text;
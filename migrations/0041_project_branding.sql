ALTER TABLE `projects` ADD `logo_image_id` text;--> statement-breakpoint
ALTER TABLE `projects` ADD `brand_color` text;
ALTER TABLE `projects` ADD `retain_bodies` integer;--> statement-breakpoint
ALTER TABLE `projects` ADD `retain_raw` integer;--> statement-breakpoint
ALTER TABLE `projects` ADD `retain_events` integer;--> statement-breakpoint
ALTER TABLE `projects` ADD `retain_received` integer;--> statement-breakpoint
CREATE INDEX `projects_retention` ON `projects` (`seq`) WHERE coalesce(retain_bodies, retain_raw, retain_events, retain_received) IS NOT NULL;--> statement-breakpoint
CREATE INDEX `workflow_executions_project` ON `workflow_executions` (`project_seq`,`seq`);
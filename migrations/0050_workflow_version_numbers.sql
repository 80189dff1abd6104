DROP INDEX `workflow_versions_workflow`;--> statement-breakpoint
CREATE INDEX `workflow_versions_workflow` ON `workflow_versions` (`workflow_seq`,`number`);
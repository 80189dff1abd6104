CREATE TABLE `import_faults` (
	`job_seq` integer NOT NULL,
	`line` integer NOT NULL,
	`message` text NOT NULL,
	`cells` text,
	PRIMARY KEY(`job_seq`, `line`),
	FOREIGN KEY (`job_seq`) REFERENCES `jobs`(`seq`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `jobs_of_project` ON `jobs` (`project_seq`,`kind`,`seq`);--> statement-breakpoint
CREATE TRIGGER `usage_of_import_faults_cascade` BEFORE DELETE ON jobs BEGIN
	UPDATE project_usage SET stored_bytes = stored_bytes - (SELECT coalesce(sum(30 + coalesce(octet_length(r.message), 0) + coalesce(octet_length(r.cells), 0)), 0) FROM import_faults r WHERE r.job_seq = old.seq) WHERE project_seq = old.project_seq;
END;--> statement-breakpoint
CREATE TRIGGER `usage_of_import_faults_cells` AFTER UPDATE OF cells ON import_faults WHEN coalesce(octet_length(new.cells), 0) <> coalesce(octet_length(old.cells), 0) BEGIN
	UPDATE project_usage SET stored_bytes = stored_bytes + coalesce(octet_length(new.cells), 0) - coalesce(octet_length(old.cells), 0) WHERE project_seq = (SELECT project_seq FROM jobs WHERE seq = new.job_seq);
END;--> statement-breakpoint
CREATE TRIGGER `usage_of_import_faults_in` AFTER INSERT ON import_faults BEGIN
	UPDATE project_usage SET stored_bytes = stored_bytes + (30 + coalesce(octet_length(new.message), 0) + coalesce(octet_length(new.cells), 0)) WHERE project_seq = (SELECT project_seq FROM jobs WHERE seq = new.job_seq);
END;--> statement-breakpoint
CREATE TRIGGER `usage_of_import_faults_message` AFTER UPDATE OF message ON import_faults WHEN coalesce(octet_length(new.message), 0) <> coalesce(octet_length(old.message), 0) BEGIN
	UPDATE project_usage SET stored_bytes = stored_bytes + coalesce(octet_length(new.message), 0) - coalesce(octet_length(old.message), 0) WHERE project_seq = (SELECT project_seq FROM jobs WHERE seq = new.job_seq);
END;--> statement-breakpoint
CREATE TRIGGER `usage_of_import_faults_out` AFTER DELETE ON import_faults BEGIN
	UPDATE project_usage SET stored_bytes = stored_bytes - (30 + coalesce(octet_length(old.message), 0) + coalesce(octet_length(old.cells), 0)) WHERE project_seq = (SELECT project_seq FROM jobs WHERE seq = old.job_seq);
END;

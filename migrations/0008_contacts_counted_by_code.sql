-- The code counts contacts where it writes them (src/db/usage.ts).
DROP TRIGGER `usage_of_contacts_in`;--> statement-breakpoint
DROP TRIGGER `usage_of_contacts_email`;--> statement-breakpoint
DROP TRIGGER `usage_of_contacts_data`;

-- A search by a part of an address scans the index of addresses (src/modules/contacts/address-search.ts).
DROP TRIGGER `contacts_moved_in`;--> statement-breakpoint
DROP TRIGGER `contacts_moved_out`;--> statement-breakpoint
DROP TRIGGER `contacts_moved`;--> statement-breakpoint
DROP TABLE `contact_blocks`;

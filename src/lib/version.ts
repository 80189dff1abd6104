/** Version of the program. The build inserts the constants; a checkout reads its package.json. */

import manifest from "../../package.json" with { type: "json" };

declare const BUILD_VERSION: string | undefined;
declare const BUILD_REVISION: string | undefined;

export const VERSION: string = typeof BUILD_VERSION === "string" ? BUILD_VERSION : manifest.version;

/** Git revision; empty if it is not known. */
export const REVISION: string = typeof BUILD_REVISION === "string" ? BUILD_REVISION : "";

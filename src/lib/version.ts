/** Version of the program. The build inserts the constants; a checkout reads its package.json. */

import manifest from "../../package.json" with { type: "json" };

declare const BUILD_VERSION: string | undefined;
declare const BUILD_REVISION: string | undefined;
declare const BUILD_PLATFORM: string | undefined;

export const VERSION: string = typeof BUILD_VERSION === "string" ? BUILD_VERSION : manifest.version;

/** Git revision; empty if it is not known. */
export const REVISION: string = typeof BUILD_REVISION === "string" ? BUILD_REVISION : "";

/** The platform of the executable, such as linux-x64 or linux-arm64-musl; null in a checkout. */
export const PLATFORM: string | null = typeof BUILD_PLATFORM === "string" ? BUILD_PLATFORM : null;

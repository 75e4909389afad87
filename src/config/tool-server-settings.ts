/** The settings of a server of tools, in the config file. */

/** An MCP server: a program of this machine that is started, or an address. Secrets are named, never written. */
export type ToolServerSettings =
  | {
      readonly command: string;
      readonly args?: readonly string[];
      /** Names of variables that the program gets beside `PATH`, `HOME` and their like. Their values count as secrets. */
      readonly env?: readonly string[];
    }
  | {
      readonly url: string;
      /** The name of the variable that holds its bearer token. */
      readonly token?: string;
    };

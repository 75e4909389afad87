/** The agent of undici as a file of its own, which has no types there. */
declare module "undici/lib/dispatcher/agent.js" {
  import { Agent } from "undici";
  export default Agent;
}

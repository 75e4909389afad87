/** Welcomes new followers. No list shows them, so deliveries are all it lives on: nothing is polled. */
import { defineSpecialist } from "retinue";

export default defineSpecialist({
  handle: "doorman",
  tier: "free",
  bio: "Holds the door.",
  may: ["posts.create"],
  on: {
    "follower.new": (agent, act) => void act.post(`Welcome, ${agent.handle ?? "stranger"}!`, { expiresIn: "6h" }),
  },
});

[
  inputs: ["{mix,.formatter}.exs", "native/*.exs", "{lib,test,examples,bench}/**/*.{ex,exs}"]
]

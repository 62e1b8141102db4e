"""The sieves of exact search: little of each row, which tells that most are not among the best."""

module bloomery.invalid/bloomery

go 1.19

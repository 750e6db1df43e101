CREATE TABLE IF NOT EXISTS stock (sku varchar(100) PRIMARY KEY, pieces int NOT NULL);
CREATE TABLE IF NOT EXISTS ride (id varchar(100) PRIMARY KEY, driver varchar(100));
